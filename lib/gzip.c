#include "lib/gzip.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/safe-input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* zlib's window size; 16 asks for a gzip header. */
#define GZIP_WINDOW (15 + 16)
#define MEMORY      8

/* Takes half as long as zlib's default, 6, for 8 % more bytes (instructions.json of clang). */
#define LEVEL 4

void gzip_start(struct gzip *gzip, FILE *out)
{
    memset(gzip, 0, sizeof *gzip);
    gzip->out = out;
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        diag_fatal(NULL, "out of memory");
}

static void compress_rest(struct gzip *gzip, int flush)
{
    unsigned char buffer[16384];
    do {
        gzip->stream.next_out = buffer;
        gzip->stream.avail_out = sizeof buffer;
        deflate(&gzip->stream, flush);
        fwrite(buffer, 1, sizeof buffer - gzip->stream.avail_out, gzip->out);
    } while (gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const void *data, size_t size)
{
    const unsigned char *at = data;
    while (size) {
        uInt piece = size < (1u << 30) ? (uInt)size : 1u << 30;
        gzip->stream.next_in = (unsigned char *)at;
        gzip->stream.avail_in = piece;
        compress_rest(gzip, Z_NO_FLUSH);
        at += piece;
        size -= piece;
    }
}

void gzip_finish(struct gzip *gzip)
{
    gzip->stream.avail_in = 0;
    compress_rest(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
}

/* Bytes that are read at a time. */
#define PIECE 65536

char *gzip_read(const char *path, size_t most, size_t *size)
{
    struct stat status;
    VEC(char) text = {0};
    autofree char *cause = NULL;
    int fd = input_open(path, &status, &cause);
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
    int got = file ? PIECE : -1;
    if (fd >= 0 && !file)
        close(fd);
    if (fd >= 0 && most > input_most_unpacked((size_t)status.st_size))
        most = input_most_unpacked((size_t)status.st_size);
    while (got > 0 && text.n <= most) {
        vec_reserve(&text, PIECE + 1);
        got = gzread(file, text.at + text.n, PIECE);
        text.n += got > 0 ? (size_t)got : 0;
    }
    if (file && gzclose(file) != Z_OK)
        got = -1;
    if (got != 0) {
        vec_free(&text);
        return NULL;
    }
    text.at[text.n] = '\0';
    *size = text.n;
    return text.at;
}
