/* Structure files in the cache (lib/structure-cache.h). */
#ifndef HPCSTRUCT_CACHED_H
#define HPCSTRUCT_CACHED_H

#include "hpcstruct/analyze.h"

/* The path of the structure file of a binary, which is analyzed unless the cache holds it already;
 * the caller frees. NULL, after a message, when there is none. */
char *cached_structure(const char *path, const struct analysis_options *options);

#endif
