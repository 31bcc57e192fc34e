/* Gzip files: written as a stream, read as a whole. Equal data gives equal bytes: the header has no
 * time. */
#ifndef LIB_GZIP_H
#define LIB_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

/* A gzip file that is written. Write errors set the error of the file underneath. */
struct gzip {
    FILE *out;
    z_stream stream;
};

void gzip_start(struct gzip *gzip, FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t size);
void gzip_finish(struct gzip *gzip);

/* The content of a gzip file, or of a file that is none, with a byte 0 behind it; the caller frees.
 * NULL if it cannot be read, is damaged, or has more than `most` bytes or input_most_unpacked. */
char *gzip_read(const char *path, size_t most, size_t *size);

#endif
