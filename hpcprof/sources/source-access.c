#include "hpcprof/sources/source-access.h"

#include "hpcprof/base/trusted-path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens a real path component by component: what became a link meanwhile is not followed.
 * *for_everybody: everybody may pass the directories. */
static int open_real(char *path, bool *for_everybody)
{
    struct stat status;
    int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *name = path + 1;
    *for_everybody = true;
    for (char *slash; directory >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        *slash = '/';
        close(directory);
        directory = next;
        if (next >= 0 && (fstat(next, &status) != 0 || !(status.st_mode & S_IXOTH)))
            *for_everybody = false;
    }
    if (directory < 0)
        return -1;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    close(directory);
    return fd;
}

static bool may_be_copied(const struct stat *status, bool for_everybody,
                          const struct source_tree *tree, const struct source_origin *origin)
{
    bool is_own = status->st_uid == geteuid() && (origin->by_user || origin->by_root);
    bool is_theirs = origin->by_other != NO_USER && status->st_uid == origin->by_other;
    if (for_everybody && (status->st_mode & S_IROTH))
        return true;
    return (is_own || is_theirs) && (status->st_uid != 0 || tree->is_of_sources);
}

static const char *refusal(const struct stat *status, bool for_everybody,
                           const struct source_tree *tree, const struct source_origin *origin)
{
    if (!S_ISREG(status->st_mode))
        return "it is not a regular file";
    if (status->st_size > SOURCE_MAX_BYTES)
        return "it has more than 64 MiB";
    if (!may_be_copied(status, for_everybody, tree, origin))
        return "not everybody may read it, and it is not below the directory of compilation of a "
               "program of its owner's";
    return NULL;
}

int source_open(const char *path, const struct source_tree *tree,
                const struct source_origin *origin, struct stat *status, const char **why)
{
    char *real = real_path(path, origin->by_other), *top = real_path(tree->path, origin->by_other);
    bool for_everybody, is_in_tree = real && top && real_path_is_below(real, top);
    int fd = is_in_tree ? open_real(real, &for_everybody) : -1;
    if (!is_in_tree)
        *why =
            "a symbolic link on the way is another user's or leads out of the directory in which "
            "it was looked for";
    else if (fd < 0 || fstat(fd, status) != 0)
        *why = strerror(errno);
    else
        *why = refusal(status, for_everybody, tree, origin);
    if (*why && fd >= 0) {
        close(fd);
        fd = -1;
    }
    free(real);
    free(top);
    return fd;
}
