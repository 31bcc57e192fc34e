#include "hpcstruct/elf/byte-reader.h"

#include "lib/bytes.h"

#include <assert.h>
#include <string.h>

static bool has_bytes(const struct byte_reader *reader, uint64_t size)
{
    return !reader->failed && reader->at <= reader->bytes.size &&
           size <= reader->bytes.size - reader->at;
}

uint64_t read_uint(struct byte_reader *reader, unsigned size)
{
    uint64_t value = 0;
    assert(size <= sizeof value);
    if (!has_bytes(reader, size)) {
        reader->failed = true;
        return 0;
    }
    const uint8_t *at = reader->bytes.at + reader->at;
    if (size && reader->bytes.size - reader->at >= sizeof value) {
        /* Eight bytes at once are faster than a copy of variable size. */
        memcpy(&value, at, sizeof value);
        value &= ~(uint64_t)0 >> (64 - 8 * size);
    } else {
        memcpy(&value, at, size);
    }
    reader->at += size;
    return value;
}

uint64_t read_uleb128(struct byte_reader *reader)
{
    uint64_t value = 0;
    if (has_more_bytes(reader)) {
        const uint8_t *at = reader->bytes.at + reader->at;
        if (get_varint(&at, reader->bytes.at + reader->bytes.size, &value)) {
            reader->at = (size_t)(at - reader->bytes.at);
            return value;
        }
    }
    reader->failed = true;
    return 0;
}

int64_t read_sleb128(struct byte_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_uint(reader, 1);
        value |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        bool negative = byte & 0x40;
        return (int64_t)(negative && shift < 57 ? value | ~(uint64_t)0 << (shift + 7) : value);
    }
    reader->failed = true;
    return 0;
}

const char *read_cstring(struct byte_reader *reader)
{
    if (has_more_bytes(reader)) {
        const uint8_t *start = reader->bytes.at + reader->at;
        const uint8_t *end = memchr(start, '\0', reader->bytes.size - reader->at);
        if (end) {
            reader->at += (size_t)(end - start) + 1;
            return (const char *)start;
        }
    }
    reader->failed = true;
    return "";
}

void skip_bytes(struct byte_reader *reader, uint64_t size)
{
    if (has_bytes(reader, size))
        reader->at += size;
    else
        reader->failed = true;
}

struct byte_reader sub_reader(struct byte_reader *reader, uint64_t size)
{
    struct byte_reader part = *reader;
    skip_bytes(reader, size);
    part.failed = reader->failed;
    if (!part.failed)
        part.bytes.size = reader->at;
    return part;
}
