/* Resolves paths and says whose word they are: the owner of a symbolic link, and whoever can write
 * to a directory, decide what a path means. */
#ifndef LIB_TRUSTED_PATH_H
#define LIB_TRUSTED_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#define NO_USER ((uid_t)-1)

/* Returns the absolute path without links; NULL, with errno set, if there is no such file, or if a
 * link on the way belongs to anybody but root, the user and `other` (EPERM). The caller frees. */
char *trusted_path(const char *path, uid_t other);

/* The same for a file that is written and may not exist yet; its directory must. */
char *trusted_new_path(const char *path);

/* Whether `path` is `tree` or lies below it; both are absolute paths without links. */
bool path_is_below(const char *path, const char *tree);

/* Sets *owner to the user who decides what is in a file: its owner, if not everybody can write to
 * it, and only root and the owner can put another file or link in its place. Returns false if other
 * users can, or if that cannot be determined. */
bool trusted_path_owner(const char *path, uid_t *owner);

/* Why another user may have decided what is in a file or directory: it belongs to neither root nor
 * the user, or its group or others may write to it. NULL: no other user may have. Users who could
 * write to the file or directory `of` (NULL: none) are trusted, too: a binary, for example, says no
 * less than its debug information does. */
const char *why_not_trusted(const struct stat *status, const struct stat *of);

#endif
