/* The cache of structures, as images (lib/structure-image.h), shared by all runs of the tools.
 *
 * The simple way to use it is `hpcstruct --cache BINARY`: it makes sure that the cache holds the
 * image of BINARY's structure and prints its path as one line on stdout.
 *
 *     status  path     meaning
 *     0       printed  the structure is complete
 *     else    printed  the structure lacks what the messages on stderr say
 *     else    none     there is no structure; stderr says why
 *
 * The cache is a directory: $XDG_CACHE_HOME/hpctoolkit/structure, or ~/.cache/hpctoolkit/structure
 * without XDG_CACHE_HOME, or, when that cannot be used or others can
 * write to it, hpctoolkit-UID/structure in $TMPDIR or /tmp. A file's name is its key: what the
 * structure depends on. Files appear complete, so that any number of processes may use the cache. A
 * file by another version counts as none. */
#ifndef LIB_STRUCTURE_CACHE_H
#define LIB_STRUCTURE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cache's directory, created if it does not exist; the caller frees. NULL if none is usable.
 * *note is then the cause; else it is NULL or says why the usual place is not used. The caller
 * frees it. */
char *structure_cache_directory(char **note);

/* The path of the file for a key. `id` is the build-id, or another hash of the binary's contents;
 * `detail` is a hash of what else the structure depends on. The caller frees. */
char *structure_cache_path(const char *directory, const uint8_t *id, size_t id_size,
                           uint64_t detail);

/* Whether the file exists and is an image by this version of hpcstruct (lib/structure-image.h). */
bool structure_cache_has(const char *path);

/* The newest file for a binary that no longer exists, by its build-id in hexadecimal; NULL if there
 * is none. The caller frees. */
char *structure_cache_find(const char *directory, const char *build_id);

#endif
