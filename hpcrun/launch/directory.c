#include "hpcrun/launch/directory.h"

#include "lib/diag.h"
#include "lib/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 100000

static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    struct dirent *entry;
    bool empty = true;
    while (empty && (entry = readdir(directory)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    return empty;
}

static char *absolute(char *path)
{
    char *full = realpath(path, NULL);
    if (!full)
        diag_fatal(path, "%s", strerror(errno));
    free(path);
    return full;
}

static char *make_wanted(const char *path)
{
    if (mkdir(path, 0777) != 0) {
        if (errno != EEXIST)
            diag_fatal(path, "can't make the measurement directory: %s", strerror(errno));
        if (!is_empty(path))
            diag_fatal(path, "exists and is not an empty directory");
    }
    if (access(path, W_OK | X_OK) != 0)
        diag_fatal(path, "%s", strerror(errno));
    return absolute(mem_strdup(path));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *directory_make(const char *wanted, const char *command)
{
    if (wanted)
        return make_wanted(wanted);
    for (unsigned number = 1; number < MAX_NUMBER; number++) {
        char *path = number == 1
                         ? mem_printf("hpctoolkit-%s-measurements", base_name(command))
                         : mem_printf("hpctoolkit-%s-measurements-%u", base_name(command), number);
        if (mkdir(path, 0777) == 0)
            return absolute(path);
        if (errno != EEXIST)
            diag_fatal(path, "can't make the measurement directory: %s", strerror(errno));
        free(path);
    }
    diag_fatal(NULL, "too many measurement directories of %s here", base_name(command));
}
