/* Structure files in the cache (lib/structure-cache.h). */
#ifndef HPCSTRUCT_CACHED_STRUCTURES_H
#define HPCSTRUCT_CACHED_STRUCTURES_H

#include "hpcstruct/structure/analyze.h"

/* A file for the wanted procedures of a large binary (analysis_options.only). */
struct structure_part {
    const char *path;
    uint64_t large; /* size (binary_size) above which a binary is large */
};

/* The path of the structure file of a binary; analyzes the binary unless the cache has the file. With
 * wanted procedures: the path of `part`, with these procedures, if the binary is large and the cache has
 * no file. The caller frees. NULL, after a message (lib/diag.h), if there is none. */
char *cached_structure(const char *path, const struct analysis_options *options,
                       const struct structure_part *part);

/* Puts the structure of all load modules with samples of a measurement directory into the cache,
 * and prints a line for each: "MODULE: STRUCTURE FILE". Prints a message for each module that is
 * missing or has changed since the run. */
void cache_measured_modules(const char *directory, const struct analysis_options *options);

#endif
