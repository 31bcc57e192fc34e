#include "hpcrun/record/chunk.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/chunk-header.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint32_t chunks; /* number in the file so far */

/* A chunk is built here if no memory can be mapped; by one thread at a time. */
static struct {
    _Atomic bool taken;
    uint8_t at[CHUNK_BYTES + SCRATCH_BYTES];
} last_resort;

void chunks_init(void)
{
    atomic_store(&chunks, 0);
    atomic_store(&last_resort.taken, false);
}

bool chunk_memory(struct chunk *chunk)
{
    chunk->at = sys_pages(CHUNK_BYTES + SCRATCH_BYTES);
    if (!chunk->at && !atomic_exchange(&last_resort.taken, true))
        chunk->at = last_resort.at;
    chunk->scratch = (char *)chunk->at + CHUNK_BYTES;
    return chunk->at != NULL;
}

void chunk_release(struct chunk *chunk)
{
    if (chunk->at == last_resort.at)
        atomic_store(&last_resort.taken, false);
    else
        sys_pages_free(chunk->at, CHUNK_BYTES + SCRATCH_BYTES);
}

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

bool chunk_commit(struct chunk *chunk)
{
    uint8_t *at = chunk->at;
    uint32_t number = atomic_fetch_add(&chunks, 1);
    chunk_header_put(at, chunk->kind, chunk->thread, number, chunk->used - CHUNK_HEADER_SIZE);
    uint32_t crc = crc32_update(0, at, CHUNK_CRC_OFFSET);
    crc = crc32_update(crc, at + CHUNK_HEADER_SIZE, chunk->used - CHUNK_HEADER_SIZE);
    put_u32(at + CHUNK_CRC_OFFSET, crc);
    if (file_write(at, chunk->used))
        return true;
    uint32_t next = number + 1; /* reuse the number, unless a later one is in use */
    atomic_compare_exchange_strong(&chunks, &next, number);
    return false;
}
