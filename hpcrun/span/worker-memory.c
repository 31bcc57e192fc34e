#include "hpcrun/span/worker-memory.h"

#include "hpcrun/base/sys.h"

#include <string.h>

#define CHUNK_BYTES (UINT64_C(64) << 10)

static void *carve(struct worker_memory *memory, uint64_t bytes)
{
    if (memory->left < bytes) {
        uint64_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        uint8_t *chunk = sys_pages(size);
        if (!chunk)
            return NULL;
        memory->chunk = chunk;
        memory->left = size;
    }
    void *block = memory->chunk;
    memory->chunk += bytes;
    memory->left -= bytes;
    return block;
}

void *block_take(struct worker_memory *memory, unsigned size)
{
    if (size >= BLOCK_SIZES)
        return NULL;
    void *block = memory->free[size];
    if (!block)
        return carve(memory, FIRST_BLOCK << size);
    memcpy(&memory->free[size], block, sizeof(void *));
    return block;
}

void block_free(struct worker_memory *memory, void *block, unsigned size)
{
    memcpy(block, &memory->free[size], sizeof(void *));
    memory->free[size] = block;
}
