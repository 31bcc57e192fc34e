#include "hpcrun/span/activations.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

/* ---- memory of all workers ---- */

/* An activation that no worker executes. */
struct waiting {
    struct waiting *next;
    const void *key;
    struct activation activation;
};

#define BUCKETS 1024u

static struct {
    struct lock lock;
    struct waiting *at[BUCKETS];
    void *free_waiting, *free_segments;
    uint8_t *chunk;
    uint64_t left;
} shared;

static struct waiting **bucket_of(const void *key)
{
    return &shared.at[((uintptr_t)key >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

/* Takes a block that begins with a pointer off a list of free ones, or makes one. */
static void *take_shared(void **list, size_t size)
{
    uint64_t mask = lock_take(&shared.lock);
    void *block = *list;
    if (block) {
        *list = *(void **)block;
    } else {
        size = (size + 15) & ~(size_t)15;
        if (shared.left < size) {
            shared.chunk = sys_pages(64 << 10);
            shared.left = shared.chunk ? 64 << 10 : 0;
        }
        block = shared.left >= size ? shared.chunk : NULL;
        shared.chunk += block ? size : 0;
        shared.left -= block ? size : 0;
    }
    lock_release(&shared.lock, mask);
    return block;
}

static void free_shared(void **list, void *block)
{
    uint64_t mask = lock_take(&shared.lock);
    *(void **)block = *list;
    *list = block;
    lock_release(&shared.lock, mask);
}

/* ---- paths ---- */

void series_add_branch(struct series *series, struct worker_memory *memory,
                       struct critical_path *branch)
{
    if (series->continuation.length + branch->length <= series->longest.length) {
        path_clear(branch, memory);
        return;
    }
    span_append(&series->prefix, memory, &series->continuation);
    path_clear(&series->longest, memory);
    series->longest = *branch;
    *branch = (struct critical_path){0};
}

/* The longer one of the two counts. */
void series_sync(struct series *series, struct worker_memory *memory)
{
    bool is_child = series->longest.length > series->continuation.length;
    span_append(&series->prefix, memory, is_child ? &series->longest : &series->continuation);
    path_clear(&series->longest, memory);
    path_clear(&series->continuation, memory);
}

void series_put_before(struct series *series, struct critical_path *child,
                       struct worker_memory *memory, struct critical_path *rest)
{
    bool is_child = child->length > rest->length;
    span_append(&series->continuation, memory, is_child ? child : rest);
    path_clear(is_child ? rest : child, memory);
    series_sync(series, memory);
    *rest = series->prefix;
    series->prefix = (struct critical_path){0};
}

void activation_fold(struct activation *activation, struct worker_memory *memory)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        series_sync(&activation->series[kind], memory);
    while (activation->before) {
        struct segment *segment = activation->before;
        for (unsigned kind = 0; kind < KINDS; kind++)
            series_put_before(&segment->series[kind], &segment->child[kind], memory,
                              &activation->series[kind].prefix);
        activation->work += segment->work + segment->child_work;
        activation->before = segment->before;
        free_shared(&shared.free_segments, segment);
    }
}

/* ---- activations ---- */

void activation_begin(struct activation *activation, struct agent_activation procedure,
                      uint32_t parent_context, uint32_t depth)
{
    activation->procedure = procedure;
    activation->context = CONTEXT_NONE;
    activation->parent_context = parent_context;
    activation->depth = depth;
    activation->is_mixed = activation->is_trial = false;
    activation->is_suspended = false;
    activation->parent = NULL;
    activation->before = NULL;
    activation->work = activation->strands = activation->spawns = 0;
}

struct segment *activation_cut(struct activation *activation)
{
    struct segment *segment = take_shared(&shared.free_segments, sizeof *segment);
    if (!segment)
        return NULL;
    *segment = (struct segment){.before = activation->before,
                                .context = activation->context,
                                .work = activation->work};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        segment->series[kind] = activation->series[kind];
        activation->series[kind] = (struct series){0};
    }
    return segment;
}

void activation_store(const void *key, const struct activation *activation)
{
    struct waiting *waiting = take_shared(&shared.free_waiting, sizeof *waiting);
    if (!waiting) {
        span_fail();
        return;
    }
    waiting->key = key;
    waiting->activation = *activation;
    uint64_t mask = lock_take(&shared.lock);
    struct waiting **bucket = bucket_of(key);
    waiting->next = *bucket;
    *bucket = waiting;
    lock_release(&shared.lock, mask);
}

bool activation_take(const void *key, struct activation *activation)
{
    uint64_t mask = lock_take(&shared.lock);
    struct waiting **link = bucket_of(key);
    while (*link && (*link)->key != key)
        link = &(*link)->next;
    struct waiting *found = *link;
    if (found)
        *link = found->next;
    lock_release(&shared.lock, mask);
    if (!found)
        return false;
    *activation = found->activation;
    free_shared(&shared.free_waiting, found);
    return true;
}
