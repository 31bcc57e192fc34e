/* Structure files in the cache (lib/structure-cache.h). */
#ifndef HPCSTRUCT_CACHED_STRUCTURES_H
#define HPCSTRUCT_CACHED_STRUCTURES_H

#include "hpcstruct/structure/analyze.h"

/* The path of the structure file of a binary; analyzes the binary unless the cache has the file. The
 * caller frees. But of a binary that the cache does not have, and whose size (binary_size) is above
 * `large`, writes the wanted procedures (analysis_options.only) to `out`, and returns NULL. Returns NULL,
 * too, after a message (lib/diag.h), if there is no structure. */
char *cached_structure(const char *path, const struct analysis_options *options, uint64_t large,
                       FILE *out);

/* Puts the structure of all load modules with samples of a measurement directory into the cache,
 * and prints a line for each: "MODULE: STRUCTURE FILE". Prints a message for each module that is
 * missing or has changed since the run. */
void cache_measured_modules(const char *directory, const struct analysis_options *options);

#endif
