/* Reading numbers and strings from bytes that cannot be trusted, one after the other. Reading
 * beyond the end gives 0 or "" and marks the cursor as bad. */
#ifndef HPCSTRUCT_BYTE_READER_H
#define HPCSTRUCT_BYTE_READER_H

#include "hpcstruct/elf/elf-image.h"

struct cursor {
    struct elf_bytes bytes;
    size_t at;
    bool bad;
};

/* A little-endian integer of `size` bytes, at most 8. */
uint64_t cursor_unsigned(struct cursor *cursor, unsigned size);

/* LEB128 of at most 64 bits. */
uint64_t cursor_uleb(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);

/* A string and its terminator. */
const char *cursor_string(struct cursor *cursor);

void cursor_skip(struct cursor *cursor, uint64_t size);

/* A cursor over the next `size` bytes, which are skipped; offsets stay the same. */
struct cursor cursor_part(struct cursor *cursor, uint64_t size);

/* Whether there are bytes left, and none were missing. */
static inline bool cursor_has_more(const struct cursor *cursor)
{
    return !cursor->bad && cursor->at < cursor->bytes.size;
}

#endif
