/* The structure of everything that a run was measured in. */
#ifndef HPCSTRUCT_CACHED_STRUCTURES_H
#define HPCSTRUCT_CACHED_STRUCTURES_H

#include "hpcstruct/structure/analyze.h"

/* Puts the structure of all load modules that samples of a measurement directory lie in into the
 * cache, and prints a line for each. A module that is gone or has changed since the run costs a
 * message (lib/diag.h). */
void directory_structures(const char *directory, const struct analysis_options *options);

/* Structure files in the cache (lib/structure-cache.h). */

/* The path of the structure file of a binary, which is analyzed unless the cache holds it already;
 * the caller frees. NULL, after a message, when there is none. */
char *cached_structure(const char *path, const struct analysis_options *options);

#endif
