/* Reads numbers and strings from untrusted bytes, one after the other. A read beyond the end
 * returns 0 or "" and sets `failed`; so do all reads after it. */
#ifndef HPCSTRUCT_BYTE_READER_H
#define HPCSTRUCT_BYTE_READER_H

#include "hpcstruct/elf/elf-image.h"

struct byte_reader {
    struct elf_bytes bytes;
    size_t at;   /* offset of the next byte */
    bool failed; /* a read went beyond the end; callers also set it for values that they cannot use
                  */
};

/* A little-endian integer of `size` bytes, at most 8. */
uint64_t read_uint(struct byte_reader *reader, unsigned size);

/* LEB128 of at most 64 bits. */
uint64_t read_uleb128(struct byte_reader *reader);
int64_t read_sleb128(struct byte_reader *reader);

/* A string; skips its terminating 0, too. */
const char *read_cstring(struct byte_reader *reader);

void skip_bytes(struct byte_reader *reader, uint64_t size);

/* A reader of the next `size` bytes, which `reader` skips. Offsets count from the same byte in
 * both. */
struct byte_reader sub_reader(struct byte_reader *reader, uint64_t size);

/* Whether bytes are left and no read has failed. */
static inline bool has_more_bytes(const struct byte_reader *reader)
{
    return !reader->failed && reader->at < reader->bytes.size;
}

#endif
