#include "lib/chunk.h"

#include <string.h>

void chunk_begin(struct chunk *chunk, enum chunk_kind kind, uint32_t thread)
{
    chunk->used = CHUNK_HEADER_SIZE;
    chunk->kind = kind;
    chunk->thread = thread;
}

static bool fits(const struct chunk *chunk, size_t size)
{
    return size <= CHUNK_BYTES - chunk->used;
}

void chunk_u8(struct chunk *chunk, uint8_t value)
{
    if (fits(chunk, 1))
        chunk->at[chunk->used++] = value;
}

void chunk_u64(struct chunk *chunk, uint64_t value)
{
    if (!fits(chunk, sizeof value))
        return;
    put_u64(chunk->at + chunk->used, value);
    chunk->used += sizeof value;
}

void chunk_v(struct chunk *chunk, uint64_t value)
{
    if (fits(chunk, VARINT_MAX_BYTES))
        chunk->used = (size_t)(put_varint(chunk->at + chunk->used, value) - chunk->at);
}

void chunk_z(struct chunk *chunk, int64_t value)
{
    chunk_v(chunk, zigzag(value));
}

void chunk_bytes(struct chunk *chunk, const void *data, size_t size)
{
    if (!fits(chunk, VARINT_MAX_BYTES))
        return;
    size_t room = CHUNK_BYTES - chunk->used - VARINT_MAX_BYTES;
    if (size > room)
        size = room;
    chunk_v(chunk, size);
    memcpy(chunk->at + chunk->used, data, size);
    chunk->used += size;
}

void chunk_str(struct chunk *chunk, const char *string)
{
    static const char cut[] = "...";
    size_t length = strlen(string), mark = strlen(cut);
    chunk_bytes(chunk, string, length < CHUNK_STRING ? length : CHUNK_STRING);
    if (length > CHUNK_STRING)
        memcpy(chunk->at + chunk->used - mark, cut, mark);
}

/* Bytes of the longest count. */
#define COUNT_BYTES 5

size_t chunk_count_later(struct chunk *chunk)
{
    chunk->used += COUNT_BYTES;
    return chunk->used - COUNT_BYTES;
}

void chunk_count(struct chunk *chunk, size_t where, uint32_t count)
{
    uint8_t *from = chunk->at + where + COUNT_BYTES, *end = chunk->at + chunk->used;
    uint8_t *to = put_varint(chunk->at + where, count);
    memmove(to, from, (size_t)(end - from));
    chunk->used -= (size_t)(from - to);
}
