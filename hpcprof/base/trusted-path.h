/* Resolves paths and says whose word they are: the owner of a symbolic link, and whoever can write
 * to a directory, decide what a path means. */
#ifndef HPCPROF_TRUSTED_PATH_H
#define HPCPROF_TRUSTED_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#define NO_USER ((uid_t)-1)

/* Returns the absolute path without links; NULL if there is no such file, or if a link on the way
 * belongs to anybody but root, the user and `other`. The caller frees. */
char *trusted_path(const char *path, uid_t other);

/* Whether `path` is `tree` or lies below it; both are absolute paths without links. */
bool path_is_below(const char *path, const char *tree);

/* Sets *owner to the user who decides what is in a file: its owner, if only root and the owner can
 * put another file or link in its place. Returns false if other users can, or if that cannot be
 * determined. */
bool trusted_path_owner(const char *path, uid_t *owner);

#endif
