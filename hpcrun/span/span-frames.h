/* Frames: the activations of procedures, and spawned tasks, of a fork-join program, each with its
 * longest paths so far; and the segments that they leave when they are stolen. work-span.h explains the
 * method. work-span.c and frame-span.c turn the events of runtimes into what happens to frames. Normal
 * context.
 *
 * A frame stays the same whatever worker executes it. A frame that no worker executes is found by an
 * address. Either the runtime orders what workers do with one frame, or the caller holds a lock. */
#ifndef HPCRUN_SPAN_SPAN_FRAMES_H
#define HPCRUN_SPAN_SPAN_FRAMES_H

#include "hpcrun/base/lock.h"
#include "hpcrun/span/span-results.h"

/* All paths belong to the frame; so do those of a child, once it has ended. */
struct series {
    struct critical_path prefix, longest, continuation;
};

/* From the begin of the computation up to some point, along the path through that point. */
struct frame_lengths {
    uint64_t work, span[KINDS];
};

struct task_thread;

struct span_frame {
    const void *address;       /* in the table; NULL: it was never there */
    bool is_listed;            /* in the table of addresses */
    struct span_frame *next;   /* in the table */
    struct span_frame *caller; /* a task's: the frame that spawned it; NULL: serial code */
    struct span_frame *child;  /* the task that was spawned last, if the frame waits for its end */
    struct frame_segment *result; /* a task's: where its result goes; NULL: to the caller */
    struct frame_segment *before; /* its last segment since its last sync; NULL: none */
    _Atomic uint32_t open;        /* segments whose tasks have not ended */
    uint32_t context;
    uint64_t work;               /* of it and its ended children, without `before` */
    uint64_t branches;           /* of that: in tasks since the last sync */
    struct frame_lengths passed; /* from its begin on, what is in `before` */
    struct series series[KINDS];

    /* Of frame-span.h only. */
    struct frame_lengths begin;   /* where the frame began */
    bool is_task;                 /* else a procedure */
    int serial_thread;            /* of a frame without a caller: the thread of the serial code */
    struct task_thread *observer; /* likewise: its record */
    const void *spawn; /* return address of the last spawn; of a task's spawns: the task's */
    struct lock lock;  /* of `child`, and with it of what a task that ends changes */
};

/* Every frame is in a block of this size (worker-memory.h), which has room for what its owner adds. */
enum { FRAME_SIZE = 2 };

/* A frame with empty paths that is not found by its address yet; NULL without memory. */
struct span_frame *frame_new(struct worker_memory *memory, struct span_frame *caller,
                             uint32_t context, const void *address);

/* Its address is found no more. */
void frame_free(struct span_frame *frame, struct worker_memory *memory);

/* The frame is found by this address from here on, before any outer one of the same address. */
void frame_list(struct span_frame *frame, const void *address);
void frame_unlist(struct span_frame *frame);

/* The innermost frame at an address; NULL: there is none. */
struct span_frame *frame_find(const void *address);

/* A strand of it has ended, or what stands for one. */
static inline void frame_add(struct span_frame *frame, struct span_tally *tally, uint64_t time)
{
    frame->work += time;
    span_tally_add(tally, frame->context, time);
}

/* A strand of it has ended. */
static inline void frame_add_strand(struct span_frame *frame, struct span_tally *tally,
                                    uint64_t time)
{
    frame_add(frame, tally, time);
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&frame->series[kind].continuation, time, 1);
}

/* The burden is on the continuation after the spawn that just happened. */
static inline void frame_add_burden(struct span_frame *frame, uint64_t burden)
{
    path_add_own(&frame->series[BURDENED].continuation, burden, 0);
}

/* The lengths up to the current point. */
struct frame_lengths frame_here(const struct span_frame *frame);

/* Another worker continues with the frame while its child runs. False without memory. */
bool frame_cut(struct span_frame *frame, struct worker_memory *memory);

/* All its tasks have ended: its prefixes are its longest paths. False if one has not. */
bool frame_sync(struct span_frame *frame, struct worker_memory *memory);

/* A task has ended with a sync: its paths are offered to the frame that spawned it. That frame waits for
 * the task, or goes on in another worker. */
void frame_join(struct span_frame *task, struct worker_memory *memory);

/* A procedure has ended with a sync: its caller continues after it. */
void frame_return(struct span_frame *procedure, struct worker_memory *memory);

/* A frame without caller has ended with a sync: its computation is a part of the results. */
static inline void frame_end_computation(struct span_frame *root, struct worker_memory *memory)
{
    struct critical_path *const path[KINDS] = {&root->series[PLAIN].prefix,
                                               &root->series[BURDENED].prefix};
    span_add_computation(root->work, path, root->context, memory);
}

#endif
