/* The cache of structure files (doc/FORMAT-structure.md), shared by all runs of the tools.
 *
 * The simple way to use it is to run
 *     hpcstruct --cache BINARY
 * which makes sure that the cache holds the structure of BINARY, prints the path of the structure
 * file as one line on stdout, and ends with status 0; complaints come on stderr. With a status
 * other than 0 and a path, the structure lacks what the complaints say; without a path, there is
 * none.
 *
 * The cache is a directory: $XDG_CACHE_HOME/hpctoolkit/structure, or ~/.cache/hpctoolkit/structure
 * without XDG_CACHE_HOME, or, when that cannot be used or others can
 * write to it, hpctoolkit-UID/structure in $TMPDIR or /tmp. A file's name is its key: what the
 * structure depends on. Files appear complete, so that any number of processes may use the cache. A
 * file by another generator counts as none. */
#ifndef LIB_STRUCTURE_CACHE_H
#define LIB_STRUCTURE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attribute `g` of LM. Changes whenever the structure of a binary may come out differently. */
#define STRUCTURE_GENERATOR "hpcstruct 4"

/* The cache's directory, made if need be; the caller frees. NULL when there is none to be had.
 * *note is then the cause; otherwise it is NULL, or says why the usual place is not in use. It
 * belongs to the caller. */
char *structure_cache_directory(char **note);

/* The path of the file for a key. `id` is the build-id, or another hash of the binary's contents;
 * `detail` is a hash of what else the structure depends on. The caller frees. */
char *structure_cache_path(const char *directory, const uint8_t *id, size_t id_size,
                           uint64_t detail);

/* Whether there is a file, and it is by this generator. */
bool structure_cache_has(const char *path);

/* The newest file of a binary that is gone, by its build-id in hexadecimal; NULL when there is
 * none. The caller frees. */
char *structure_cache_find(const char *directory, const char *build_id);

#endif
