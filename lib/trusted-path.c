#include "lib/trusted-path.h"

#include "lib/alloc.h"
#include "lib/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel follows as many (MAXSYMLINKS). */
#define MAX_LINKS 40

static bool is_known(uid_t owner, uid_t other)
{
    return owner == 0 || owner == geteuid() || owner == other;
}

/* Puts the link's target before *rest, the part of the path behind the link. */
static bool follow(const char *link, char **done, char **rest)
{
    char target[PATH_MAX];
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    char *more = mem_printf("%s/%s", target, *rest);
    free(*rest);
    *rest = more;
    if (target[0] == '/')
        (*done)[0] = '\0';
    return true;
}

/* Removes and returns the first component of *rest; NULL at its end. The caller frees. */
static char *take_component(char **rest)
{
    char *at = *rest + strspn(*rest, "/");
    size_t length = strcspn(at, "/");
    char *component = length ? mem_strndup(at, length) : NULL;
    memmove(*rest, at + length, strlen(at + length) + 1);
    return component;
}

/* Follows one component from the directory *done: an absolute path without links, "" for the
 * root. */
static bool step(char **done, char **rest, const char *component, uid_t other, unsigned *links)
{
    struct stat status;
    if (strcmp(component, ".") == 0)
        return true;
    if (strcmp(component, "..") == 0) {
        char *slash = strrchr(*done, '/');
        if (slash)
            *slash = '\0';
        return true;
    }
    char *next = mem_printf("%s/%s", *done, component);
    bool is_there = lstat(next, &status) == 0;
    if (is_there && S_ISLNK(status.st_mode)) {
        errno = is_known(status.st_uid, other) ? ELOOP : EPERM;
        is_there = errno == ELOOP && ++*links <= MAX_LINKS && follow(next, done, rest);
        free(next);
        return is_there;
    }
    free(*done);
    *done = next;
    return is_there;
}

/* `is_new`: the last component may be missing. */
static char *resolve(const char *path, uid_t other, bool is_new)
{
    char *done = path[0] == '/' ? mem_strdup("") : getcwd(NULL, 0), *rest = mem_strdup(path);
    unsigned links = 0;
    bool good = done != NULL && *path;
    if (!*path)
        errno = ENOENT;
    for (char *component; good && (component = take_component(&rest));) {
        good = step(&done, &rest, component, other, &links) ||
               (is_new && errno == ENOENT && rest[strspn(rest, "/")] == '\0');
        free(component);
    }
    free(rest);
    if (!good) {
        free(done);
        return NULL;
    }
    if (done[0] == '\0') {
        free(done);
        done = mem_strdup("/");
    }
    return done;
}

char *trusted_path(const char *path, uid_t other)
{
    return resolve(path, other, false);
}

char *trusted_new_path(const char *path)
{
    return resolve(path, NO_USER, true);
}

bool path_is_below(const char *path, const char *tree)
{
    size_t length = strcmp(tree, "/") == 0 ? 0 : strlen(tree);
    return strncmp(path, tree, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Whether only root and `owner` can rename or replace entries of a directory. */
static bool is_only_for(const char *directory, uid_t owner)
{
    struct stat status;
    return stat(directory, &status) == 0 && (status.st_uid == 0 || status.st_uid == owner) &&
           (!(status.st_mode & S_IWOTH) || (status.st_mode & S_ISVTX));
}

bool trusted_path_owner(const char *path, uid_t *owner)
{
    struct stat status;
    char *real = stat(path, &status) == 0 ? trusted_path(path, status.st_uid) : NULL;
    bool good = real != NULL && stat(real, &status) == 0 && !(status.st_mode & S_IWOTH);
    for (char *slash = real ? strchr(real + 1, '/') : NULL; good && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        good = is_only_for(real, status.st_uid);
        *slash = '/';
    }
    free(real);
    if (good)
        *owner = status.st_uid;
    return good;
}

const char *why_not_trusted(const struct stat *status, const struct stat *of)
{
    mode_t writers = S_IWGRP | S_IWOTH;
    if (!is_known(status->st_uid, of ? of->st_uid : NO_USER))
        return "it belongs to another user";
    if (of && !(of->st_mode & S_ISVTX))
        writers &= ~(of->st_mode & (S_IWOTH | (of->st_gid == status->st_gid ? S_IWGRP : 0)));
    return status->st_mode & writers ? "other users can write to it" : NULL;
}
