/* Memory of frames. Most spawns find a spare frame in their slot of the deque; other spawns, and
 * roots, take one from the worker's pool for their size. Frames migrate between workers, because
 * the worker that ends a stolen frame frees it. A worker with too many gives a batch to the shared
 * pool, so memory is bounded by what was in use at once. */
#include <stdlib.h>
#include <string.h>

#include "minicilk-runtime.h"

enum { BATCH = 32, CHUNK_SIZE = 64 * 1024 };

struct chunk {
    struct chunk *next;
    _Alignas(64) char memory[];
};

static struct {
    pthread_mutex_t lock;
    struct minicilk_frame *free[MINICILK_MAX_POOLED_UNITS + 1];
    struct chunk *chunks;
    size_t used; /* bytes of the first chunk's memory */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

#ifndef MINICILK_UNTAGGED
#line 26 "hpctoolkit:parallel-overhead:scheduler"
#endif
RUNTIME_CODE static bool add_chunk(void)
{
    struct chunk *chunk = aligned_alloc(64, CHUNK_SIZE);
    if (!chunk)
        return false;
    chunk->next = shared.chunks;
    shared.chunks = chunk;
    shared.used = 0;
    return true;
}

/* Initializes a frame's header; the fields behind it are the program's. */
RUNTIME_CODE static struct minicilk_frame *format(void *memory, size_t units)
{
    struct minicilk_frame *frame = memory;
    memset(frame, 0, sizeof *frame);
    frame->units = (uint16_t)units;
    return frame;
}

RUNTIME_CODE static struct minicilk_frame *carve(size_t units)
{
    const size_t size = units * 64, room = CHUNK_SIZE - offsetof(struct chunk, memory);
    if ((!shared.chunks || shared.used + size > room) && !add_chunk())
        return NULL;
    void *memory = &shared.chunks->memory[shared.used];
    shared.used += size;
    return format(memory, units);
}

RUNTIME_CODE static void put(struct pool *pool, struct minicilk_frame *frame)
{
    frame->parent = pool->free;
    pool->free = frame;
    pool->count++;
}

RUNTIME_CODE static struct minicilk_frame *take(struct pool *pool)
{
    struct minicilk_frame *frame = pool->free;
    if (frame) {
        pool->free = frame->parent;
        pool->count--;
    }
    return frame;
}

/* Fills an empty pool; without memory it stays empty. */
RUNTIME_CODE static void fill(struct pool *pool, size_t units)
{
    pthread_mutex_lock(&shared.lock);
    for (int i = 0; i < BATCH; i++) {
        struct minicilk_frame *frame = shared.free[units];
        if (frame)
            shared.free[units] = frame->parent;
        else if (!(frame = carve(units)))
            break;
        put(pool, frame);
    }
    pthread_mutex_unlock(&shared.lock);
}

RUNTIME_CODE static void pass_on(struct pool *pool, size_t units)
{
    pthread_mutex_lock(&shared.lock);
    for (int i = 0; i < BATCH; i++) {
        struct minicilk_frame *frame = take(pool);
        frame->parent = shared.free[units];
        shared.free[units] = frame;
    }
    pthread_mutex_unlock(&shared.lock);
}

RUNTIME_CODE static struct minicilk_frame *new_frame(struct worker *worker, size_t size)
{
    const size_t units = MINICILK_UNITS(size);
    if (!MINICILK_IS_POOLED(size)) {
        void *memory = malloc(size);
        return memory ? format(memory, units) : NULL;
    }
    struct pool *pool = &worker->pools[units];
    if (!pool->free)
        fill(pool, units);
    return take(pool);
}

RUNTIME_CODE static void free_frame(struct worker *worker, struct minicilk_frame *frame)
{
    const size_t units = frame->units;
    if (!MINICILK_IS_POOLED(units * 64)) {
        free(frame);
        return;
    }
    struct pool *pool = &worker->pools[units];
    put(pool, frame);
    if (pool->count >= 3 * BATCH)
        pass_on(pool, units);
}

/* The syncs of the frame take the slow path, or not. */
RUNTIME_CODE static void set_observed(struct minicilk_frame *frame, bool is_observed)
{
    atomic_store_explicit(&frame->join, is_observed ? MINICILK_OBSERVED : 0, memory_order_relaxed);
}

RUNTIME_CODE static void tell_spawn(struct worker *worker, struct minicilk_slot *slot)
{
    const bool is_grain = minicilk_observer->spawned(minicilk_number(&worker->inlined), slot->spare);
    set_observed(slot->spare, !is_grain);
    if (is_grain)
        minicilk_tell_before(worker, slot + 1);
}

/* Gives a spare frame to a slot that has none or one that is too small. */
RUNTIME_CODE struct minicilk_frame *minicilk_refill(struct minicilk_worker *worker,
                                                    struct minicilk_slot *slot, minicilk_body *body,
                                                    size_t size)
{
    struct worker *owner = (struct worker *)worker;
    if (slot < owner->told)
        minicilk_observer->paused(minicilk_number(worker));
    if (slot->spare)
        free_frame(owner, slot->spare);
    slot->spare = new_frame(owner, size);
    if (!slot->spare) {
        minicilk_complain("no memory for a frame of %zu bytes", size);
        abort();
    }
    slot->spare->body = body;
    if (owner->spares_end <= slot)
        owner->spares_end = slot + 1;
    if (slot < owner->told)
        tell_spawn(owner, slot);
    else if (minicilk_observer)
        set_observed(slot->spare, false);
    return slot->spare;
}

/* So that the next spawn from each of these slots takes the slow path, too. */
RUNTIME_CODE void minicilk_drop_spares(struct worker *worker, struct minicilk_slot *from)
{
    for (struct minicilk_slot *slot = from; slot < worker->spares_end; slot++) {
        if (slot->spare)
            free_frame(worker, slot->spare);
        slot->spare = NULL;
    }
    worker->spares_end = from;
}

RUNTIME_CODE void minicilk_free_spare(struct minicilk_slot *slot)
{
    free(slot->spare);
    slot->spare = NULL;
}

RUNTIME_CODE struct minicilk_frame *minicilk_new_root(struct worker *worker, minicilk_body *body,
                                                      size_t size)
{
    struct minicilk_frame *root = new_frame(worker, size);
    if (!root)
        return NULL;
    root->parent = NULL;
    root->body = body;
    root->entry = 0;
    set_observed(root, minicilk_observer);
    if (MINICILK_IN_MODE(MINICILK_MAGICAL))
        minicilk_mark(root, true);
    return root;
}

RUNTIME_CODE void minicilk_free_base(struct worker *worker, struct minicilk_frame *frame)
{
    if (MINICILK_IN_MODE(MINICILK_MAGICAL))
        minicilk_mark(frame, false);
    free_frame(worker, frame);
}

RUNTIME_CODE void minicilk_free_all(void)
{
    while (shared.chunks) {
        struct chunk *chunk = shared.chunks;
        shared.chunks = chunk->next;
        free(chunk);
    }
    memset(shared.free, 0, sizeof shared.free);
    shared.used = 0;
}
