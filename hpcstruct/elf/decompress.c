#include "hpcstruct/elf/decompress.h"

#include "lib/alloc.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* `most`: bytes that are allowed. */
static uint8_t *decompress(uint32_t format, const uint8_t *compressed, size_t compressed_size,
                           uint64_t size, size_t most, char **cause)
{
    if (size == 0 || size > most) {
        *cause = mem_printf("compressed section of %llu bytes, which is too large for the size of the file; if "
                            "it is right, objcopy --decompress-debug-sections makes it readable",
                            (unsigned long long)size);
        return NULL;
    }
    uint8_t *out = malloc(size);
    if (!out) {
        *cause = mem_strdup("no memory for a compressed section");
        return NULL;
    }
    uLongf got = size;
    bool whole = format == ELFCOMPRESS_ZLIB
                     ? uncompress(out, &got, compressed, compressed_size) == Z_OK && got == size
                     : ZSTD_decompress(out, size, compressed, compressed_size) == size;
    if (whole)
        return out;
    free(out);
    *cause = mem_strdup("damaged compressed section");
    return NULL;
}

uint8_t *decompress_elf(const uint8_t *stored, size_t stored_size, size_t most, size_t *size,
                        char **cause)
{
    Elf64_Chdr header;
    if (stored_size < sizeof header) {
        *cause = mem_strdup("truncated compressed section");
        return NULL;
    }
    memcpy(&header, stored, sizeof header);
    if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != ELFCOMPRESS_ZSTD) {
        *cause = mem_printf("section with unknown compression %u", header.ch_type);
        return NULL;
    }
    *size = header.ch_size;
    return decompress(header.ch_type, stored + sizeof header, stored_size - sizeof header,
                      header.ch_size, most, cause);
}

uint8_t *decompress_gnu(const uint8_t *stored, size_t stored_size, size_t most, size_t *size,
                        char **cause)
{
    const size_t header_size = 12;
    if (stored_size < header_size || memcmp(stored, "ZLIB", 4) != 0) {
        *cause = mem_strdup("damaged header of a compressed section");
        return NULL;
    }
    uint64_t decompressed_size = 0;
    for (size_t i = 4; i < header_size; i++)
        decompressed_size = decompressed_size << 8 | stored[i];
    *size = decompressed_size;
    return decompress(ELFCOMPRESS_ZLIB, stored + header_size, stored_size - header_size,
                      decompressed_size, most, cause);
}
