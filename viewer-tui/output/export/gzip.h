/* Writes a gzip file piece by piece; the same input gives the same bytes. Write errors set the
 * error of the file underneath. */
#ifndef VIEWER_GZIP_H
#define VIEWER_GZIP_H

#include <stddef.h>
#include <stdio.h>

#include <zlib.h>

struct gzip {
    FILE *out;
    z_stream stream;
};

void gzip_start(struct gzip *gzip, FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t size);
/* Ends the file; `out` stays open. */
void gzip_finish(struct gzip *gzip);

#endif
