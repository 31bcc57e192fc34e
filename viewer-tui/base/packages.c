#include "viewer-tui/base/packages.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dpkg's lists of the files of each package, such as "zlib1g:amd64.list". */
#define LISTS  "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* /lib and /bin are links to folders in /usr. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool has_file(const char *list, const char *path)
{
    char *line = NULL, *cause = NULL;
    size_t size = 0;
    bool is_found = false;
    FILE *file = input_stream(list, &cause);
    free(cause);
    if (!file)
        return false;
    while (!is_found && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        is_found = strcmp(without_usr(line), without_usr(path)) == 0;
    }
    free(line);
    fclose(file);
    return is_found;
}

char *package_of(const char *path)
{
    char *found = NULL;
    const struct dirent *entry;
    DIR *directory = opendir(LISTS);
    while (directory && !found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        autofree char *list = mem_printf("%s/%s", LISTS, entry->d_name);
        size_t name = strcspn(entry->d_name, ":");
        if (has_file(list, path))
            found = mem_strndup(entry->d_name, name < length ? name : length - suffix);
    }
    if (directory)
        closedir(directory);
    return found;
}
