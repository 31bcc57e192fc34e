/* Finds the structure of a binary and writes it. */
#ifndef HPCSTRUCT_ANALYZE_H
#define HPCSTRUCT_ANALYZE_H

#include "hpcstruct/dwarf/split-units.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include <stdio.h>

struct analysis_options {
    unsigned workers;
    bool with_calls;             /* whether to list call instructions */
    enum { WRITE_XML, WRITE_IMAGE, WRITE_GAPS } what; /* the structure, or what could not be resolved */
    const char *debug_directory; /* contains separate debug files */
    /* Addresses: only the procedures that contain one are wanted; NULL: all procedures are. Those of the
     * others that carry tags of overhead (lib/source-names.h) matter for the whole run, so that all
     * procedures of a binary with tags are wanted in any case. */
    const struct address_list *only;
};

/* A binary with the files that belong to it. */
struct binary {
    const char *path;
    struct elf_image *image;
    struct elf_image *debug;      /* separate debug file, or NULL */
    struct elf_image *supplement; /* debug information that dwz moved, or NULL */
    struct split_debug split;     /* .dwo and .dwp files */
};

/* Opens a binary. False, after a message (lib/diag.h), if it cannot be analyzed. */
bool binary_open(struct binary *binary, const char *path, const struct analysis_options *options);

void binary_close(struct binary *binary);

/* Bytes of code and debug information: what the time of the analysis depends on. */
uint64_t binary_size(const struct binary *binary);

/* Writes the structure of a binary, or its gaps, to a stream; prints a message for each part of the binary that
 * is damaged. False, with errno set, if the stream reports an error. */
bool binary_analyze(const struct binary *binary, const struct analysis_options *options, FILE *out);

/* Writes the structure to a file, which appears when it is complete. False, after a message, if it
 * cannot be written. */
bool binary_write(const struct binary *binary, const struct analysis_options *options,
                  const char *path);

#endif
