#include "hpcstruct/elf/byte-reader.h"

#include "lib/bytes.h"

#include <string.h>

uint64_t cursor_unsigned(struct cursor *cursor, unsigned size)
{
    uint64_t value = 0;
    if (cursor->bad || cursor->at > cursor->bytes.size || cursor->bytes.size - cursor->at < size) {
        cursor->bad = true;
        return 0;
    }
    memcpy(&value, cursor->bytes.at + cursor->at, size);
    cursor->at += size;
    return value;
}

uint64_t cursor_uleb(struct cursor *cursor)
{
    uint64_t value = 0;
    if (cursor_has_more(cursor)) {
        const uint8_t *at = cursor->bytes.at + cursor->at;
        if (get_varint(&at, cursor->bytes.at + cursor->bytes.size, &value)) {
            cursor->at = (size_t)(at - cursor->bytes.at);
            return value;
        }
    }
    cursor->bad = true;
    return 0;
}

int64_t cursor_sleb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = cursor_unsigned(cursor, 1);
        value |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        bool negative = byte & 0x40;
        return (int64_t)(negative && shift < 57 ? value | ~(uint64_t)0 << (shift + 7) : value);
    }
    cursor->bad = true;
    return 0;
}

const char *cursor_string(struct cursor *cursor)
{
    const uint8_t *start = cursor->bytes.at + cursor->at;
    if (cursor_has_more(cursor)) {
        const uint8_t *end = memchr(start, '\0', cursor->bytes.size - cursor->at);
        if (end) {
            cursor->at += (size_t)(end - start) + 1;
            return (const char *)start;
        }
    }
    cursor->bad = true;
    return "";
}

void cursor_skip(struct cursor *cursor, uint64_t size)
{
    if (cursor->bad || cursor->at > cursor->bytes.size || size > cursor->bytes.size - cursor->at)
        cursor->bad = true;
    else
        cursor->at += size;
}

struct cursor cursor_part(struct cursor *cursor, uint64_t size)
{
    struct cursor part = *cursor;
    cursor_skip(cursor, size);
    part.bad = cursor->bad;
    if (!part.bad)
        part.bytes.size = cursor->at;
    return part;
}
