/* Where a path really leads, and whose word that is. Whoever owns a symbolic link, or can write to
 * a directory, decides what the path means. */
#ifndef HPCPROF_TRUSTED_PATH_H
#define HPCPROF_TRUSTED_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#define NO_USER ((uid_t)-1)

/* The absolute path without links, or NULL when it leads to nothing or passes a link that is not
 * root's, the user's or `other`'s. The caller frees. */
char *real_path(const char *path, uid_t other);

/* Whether `path` is `tree` or lies below it; both are real paths. */
bool real_path_is_below(const char *path, const char *tree);

/* The user who decides what is in a file: its owner, when nobody but root and the owner can put
 * another file or link in its place. False when that can't be told. */
bool real_path_owner(const char *path, uid_t *owner);

#endif
