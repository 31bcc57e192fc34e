#include "hpcrun/span/worker-memory.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

#define CHUNK_BYTES (UINT64_C(64) << 10)
#define BATCH_BYTES (UINT64_C(8) << 10)

/* Batches that workers have left over, by size. */
static struct {
    struct lock lock;
    struct free_block *at[BLOCK_SIZES];
} batches;

/* Number of blocks in a batch. */
static uint64_t batch_of(unsigned size)
{
    uint64_t bytes = FIRST_BLOCK << size;
    return bytes < BATCH_BYTES ? BATCH_BYTES / bytes : 1;
}

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

/* A whole batch: the worker's own, or one that somebody has left over; NULL: there is none. */
static struct free_block *take_batch(struct worker_memory *memory, unsigned size)
{
    struct free_block *batch = memory->full[size];
    memory->full[size] = NULL;
    if (batch)
        return batch;
    lock_enter(&batches.lock);
    batch = batches.at[size];
    if (batch)
        batches.at[size] = batch->next_batch;
    lock_leave(&batches.lock);
    return batch;
}

static void leave_batch(struct free_block *batch, unsigned size)
{
    lock_enter(&batches.lock);
    batch->next_batch = batches.at[size];
    batches.at[size] = batch;
    lock_leave(&batches.lock);
}

void *block_take(struct worker_memory *memory, unsigned size)
{
    if (size >= BLOCK_SIZES)
        return NULL;
    if (!memory->free[size]) {
        memory->free[size] = take_batch(memory, size);
        memory->count[size] = memory->free[size] ? (uint32_t)batch_of(size) : 0;
    }
    struct free_block *block = memory->free[size];
    if (!block)
        return carve(memory, FIRST_BLOCK << size);
    memory->free[size] = block->next;
    memory->count[size]--;
    return block;
}

void block_free(struct worker_memory *memory, void *block, unsigned size)
{
    struct free_block *first = block;
    if (memory->count[size] == batch_of(size)) {
        if (memory->full[size])
            leave_batch(memory->full[size], size);
        memory->full[size] = memory->free[size];
        memory->free[size] = NULL;
        memory->count[size] = 0;
    }
    first->next = memory->free[size];
    memory->free[size] = first;
    memory->count[size]++;
}
