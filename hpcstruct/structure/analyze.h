/* From a binary to its structure. */
#ifndef HPCSTRUCT_ANALYZE_H
#define HPCSTRUCT_ANALYZE_H

#include "hpcstruct/elf/elf-image.h"

#include <stdio.h>

struct analysis_options {
    unsigned workers;
    bool with_calls;             /* list call instructions */
    const char *debug_directory; /* where separate debug files are */
};

/* A binary with the files that belong to it. */
struct binary {
    const char *path;
    struct elf_image *image;
    struct elf_image *debug;      /* separate debug file, or NULL */
    struct elf_image *supplement; /* of dwz, or NULL */
};

/* Opens a binary. False, after a message (lib/diag.h), when it has no code for us. */
bool binary_open(struct binary *binary, const char *path, const struct analysis_options *options);

void binary_close(struct binary *binary);

/* Finds the structure of a binary and writes it as a structure file. What is damaged costs itself
 * and a message. False, and errno says why, when the stream does not take the file. */
bool binary_analyze(const struct binary *binary, const struct analysis_options *options, FILE *out);

/* The same into a file that appears when it is complete. False, after a message, when it cannot be
 * written. */
bool binary_write(const struct binary *binary, const struct analysis_options *options,
                  const char *path);

#endif
