#include "hpcrun/span/span-frames.h"

#include <stddef.h>

/* What a frame had when it was stolen, with the result of the task that the victim executed. */
struct frame_segment {
    struct frame_segment *before;
    uint64_t work, child_work;
    struct series series[KINDS];
    struct critical_path child[KINDS];
};

/* Sizes of blocks (worker-memory.h). */
enum { SEGMENT_SIZE = 2 };

_Static_assert(sizeof(struct span_frame) <= FIRST_BLOCK << FRAME_SIZE, "a frame has a block");
_Static_assert(sizeof(struct frame_segment) <= FIRST_BLOCK << SEGMENT_SIZE, "so has a segment");

/* ---- addresses ---- */

#define BUCKET_BITS 10

static struct bucket {
    struct lock lock;
    struct span_frame *first;
} buckets[1u << BUCKET_BITS];

static struct bucket *bucket_of(const void *address)
{
    uint64_t hash = ((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return &buckets[hash >> (64 - BUCKET_BITS)];
}

void frame_list(struct span_frame *frame, const void *address)
{
    struct bucket *bucket = bucket_of(address);
    frame->address = address;
    frame->is_listed = true;
    lock_enter(&bucket->lock);
    frame->next = bucket->first;
    bucket->first = frame;
    lock_leave(&bucket->lock);
}

void frame_unlist(struct span_frame *frame)
{
    struct bucket *bucket = bucket_of(frame->address);
    lock_enter(&bucket->lock);
    struct span_frame **link = &bucket->first;
    while (*link != frame)
        link = &(*link)->next;
    *link = frame->next;
    lock_leave(&bucket->lock);
    frame->is_listed = false;
}

struct span_frame *frame_find(const void *address)
{
    struct bucket *bucket = bucket_of(address);
    lock_enter(&bucket->lock);
    struct span_frame *frame = bucket->first;
    while (frame && frame->address != address)
        frame = frame->next;
    lock_leave(&bucket->lock);
    return frame;
}

/* ---- begin and end ---- */

struct span_frame *frame_new(struct worker_memory *memory, struct span_frame *caller,
                             uint32_t context, const void *address)
{
    struct span_frame *frame = block_take(memory, FRAME_SIZE);
    if (!frame)
        return NULL;
    *frame = (struct span_frame){.caller = caller, .context = context, .address = address};
    return frame;
}

void frame_free(struct span_frame *frame, struct worker_memory *memory)
{
    if (frame->is_listed)
        frame_unlist(frame);
    block_free(memory, frame, FRAME_SIZE);
}

/* ---- paths ---- */

/* A branch of this length, parallel to the continuation so far, has ended. Empties it. */
static void series_add_branch(struct series *series, struct worker_memory *memory,
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
static void series_sync(struct series *series, struct worker_memory *memory)
{
    bool is_child = series->longest.length > series->continuation.length;
    span_append(&series->prefix, memory, is_child ? &series->longest : &series->continuation);
    path_clear(&series->longest, memory);
    path_clear(&series->continuation, memory);
}

/* A series was cut by a steal; then `child`, which the victim executed, ran in parallel with what
 * followed: `rest`, up to a sync. Moves all to `rest`. */
static void series_put_before(struct series *series, struct critical_path *child,
                       struct worker_memory *memory, struct critical_path *rest)
{
    bool is_child = child->length > rest->length;
    span_append(&series->continuation, memory, is_child ? child : rest);
    path_clear(is_child ? rest : child, memory);
    series_sync(series, memory);
    *rest = series->prefix;
    series->prefix = (struct critical_path){0};
}

/* Adds what the frame has had since it was last stolen, without the tasks since its last sync. */
static void add_lengths(struct frame_lengths *sum, const struct span_frame *frame)
{
    sum->work += frame->work - frame->branches;
    for (unsigned kind = 0; kind < KINDS; kind++)
        sum->span[kind] +=
            frame->series[kind].prefix.length + frame->series[kind].continuation.length;
}

struct frame_lengths frame_here(const struct span_frame *frame)
{
    struct frame_lengths here = frame->begin;
    here.work += frame->passed.work;
    for (unsigned kind = 0; kind < KINDS; kind++)
        here.span[kind] += frame->passed.span[kind];
    add_lengths(&here, frame);
    return here;
}

bool frame_cut(struct span_frame *frame, struct worker_memory *memory)
{
    struct frame_segment *segment = block_take(memory, SEGMENT_SIZE);
    if (!segment)
        return false;
    *segment = (struct frame_segment){.before = frame->before, .work = frame->work};
    add_lengths(&frame->passed, frame);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        segment->series[kind] = frame->series[kind];
        frame->series[kind] = (struct series){0};
    }
    frame->work = frame->branches = 0;
    frame->before = frame->child->result = segment;
    frame->child = NULL;
    frame->open++;
    return true;
}

bool frame_sync(struct span_frame *frame, struct worker_memory *memory)
{
    if (frame->open > 0 || frame->child)
        return false;
    for (unsigned kind = 0; kind < KINDS; kind++)
        series_sync(&frame->series[kind], memory);
    while (frame->before) {
        struct frame_segment *segment = frame->before;
        for (unsigned kind = 0; kind < KINDS; kind++)
            series_put_before(&segment->series[kind], &segment->child[kind], memory,
                              &frame->series[kind].prefix);
        frame->work += segment->work + segment->child_work;
        frame->before = segment->before;
        block_free(memory, segment, SEGMENT_SIZE);
    }
    frame->branches = 0;
    frame->passed = (struct frame_lengths){0};
    return true;
}

void frame_join(struct span_frame *task, struct worker_memory *memory)
{
    struct span_frame *frame = task->caller;
    struct frame_segment *result = task->result;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &task->series[kind].prefix;
        span_change_owner(path, memory, task->context, frame->context);
        if (result)
            result->child[kind] = *path;
        else
            series_add_branch(&frame->series[kind], memory, path);
    }
    if (result) {
        result->child_work = task->work;
        frame->open--;
    } else {
        frame->work += task->work;
        frame->branches += task->work;
        frame->child = NULL;
    }
}

void frame_return(struct span_frame *procedure, struct worker_memory *memory)
{
    struct span_frame *caller = procedure->caller;
    caller->work += procedure->work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct critical_path *path = &procedure->series[kind].prefix;
        span_change_owner(path, memory, procedure->context, caller->context);
        span_append(&caller->series[kind].continuation, memory, path);
    }
}
