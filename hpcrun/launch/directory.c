#include "hpcrun/launch/directory.h"

#include "lib/diag.h"
#include "lib/mem.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 100000

#define JOB_MARK ".job"

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

/* A link that is not there yet: who makes it first has it, its text from the beginning. */
static bool make_mark(const char *directory, const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", directory, name);
    bool made = symlink(text, path) == 0;
    free(path);
    return made;
}

static bool has_mark(const char *directory, const char *name, char *text, size_t room)
{
    char *path = mem_printf("%s/%s", directory, name);
    ssize_t length = readlink(path, text, room - 1);
    free(path);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool enter(const char *directory, const struct job *job)
{
    char *name = mem_printf(".rank-%lld", (long long)job->rank);
    bool entered = make_mark(directory, name, job->name);
    free(name);
    return entered;
}

/* Whether the rank may have the directory: it is empty, or its job's. Others may be at it now, and
 * the mark of the job comes first: where there was something, the mark is there, too. */
static bool join(const char *directory, const struct job *job)
{
    char owner[PATH_MAX];
    for (;;) {
        bool was_empty = is_empty(directory);
        if (has_mark(directory, JOB_MARK, owner, sizeof owner))
            return strcmp(owner, job->name) == 0 && enter(directory, job);
        if (!was_empty)
            return false;
        if (!make_mark(directory, JOB_MARK, job->name) && errno != EEXIST)
            diag_fatal(directory, "%s", strerror(errno));
    }
}

static char *make_wanted(const char *path, const struct job *job)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        diag_fatal(path, "can't make the measurement directory: %s", strerror(errno));
    if (!job->name && !is_empty(path))
        diag_fatal(path, "exists and is not an empty directory");
    if (access(path, W_OK | X_OK) != 0)
        diag_fatal(path, "%s", strerror(errno));
    if (job->name && !join(path, job))
        diag_fatal(path,
                   "exists, and is neither empty nor this job's for a first run of each rank");
    return absolute(mem_strdup(path));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *directory_make(const char *wanted, const char *command, const struct job *job)
{
    if (wanted)
        return make_wanted(wanted, job);
    for (unsigned number = 1; number < MAX_NUMBER; number++) {
        char *path = number == 1
                         ? mem_printf("hpctoolkit-%s-measurements", base_name(command))
                         : mem_printf("hpctoolkit-%s-measurements-%u", base_name(command), number);
        bool is_new = mkdir(path, 0777) == 0;
        if (!is_new && errno != EEXIST)
            diag_fatal(path, "can't make the measurement directory: %s", strerror(errno));
        if (job->name ? join(path, job) : is_new)
            return absolute(path);
        free(path);
    }
    diag_fatal(NULL, "too many measurement directories of %s here", base_name(command));
}
