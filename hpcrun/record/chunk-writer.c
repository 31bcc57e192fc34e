#include "hpcrun/record/chunk-writer.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/record/append-file.h"

#include <stdatomic.h>

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
