/* Frames of Cilk procedures and of spawned tasks, with their longest paths so far (frame-span.h tells
 * the method). Normal context.
 *
 * A frame is found by the address of its stack frame, from its first spawn on: whatever worker goes on
 * with it has the same frame pointer. */
#ifndef HPCRUN_SPAN_SPAN_FRAMES_H
#define HPCRUN_SPAN_SPAN_FRAMES_H

#include "hpcrun/base/lock.h"
#include "hpcrun/span/activations.h"
#include "hpcrun/span/task-threads.h"

/* From the begin of the computation up to some point, along the path through that point. */
struct frame_lengths {
    uint64_t work, span[KINDS];
};

struct span_frame {
    const void *address;         /* of the stack frame; NULL: a task that has not spawned */
    bool is_listed;              /* in the table of addresses */
    struct span_frame *next;     /* in the table */
    struct span_frame *caller;   /* a task's: the frame that spawned it; NULL: serial code */
    struct frame_lengths begin;  /* where the frame began */
    struct frame_lengths passed; /* from there on, what is in `before` */
    uint32_t context;
    bool is_task;                 /* else a procedure */
    int serial_thread;            /* of a frame without a caller: the thread of the serial code */
    struct task_thread *observer; /* likewise: its record */
    const void *spawn;        /* return address of the last spawn; of a task's spawns: the task's */
    struct lock lock;         /* of `child`, and with it of what a task that ends changes */
    struct span_frame *child; /* the task that was spawned last, if the frame waits for its end */
    struct frame_segment *result; /* a task's: where its result goes; NULL: to the caller */
    struct frame_segment *before; /* its last segment; NULL: it was never stolen */
    _Atomic uint32_t open;        /* segments whose tasks have not ended */
    uint64_t work;                /* of it and its ended children, without `before` */
    uint64_t branches;            /* of that: in tasks since the last sync */
    struct series series[KINDS];
};

/* A frame with empty paths that is not found by its address yet; NULL without memory. */
struct span_frame *frame_new(struct worker_memory *memory, struct span_frame *caller,
                             uint32_t context, const void *address);

/* Its address is found no more. */
void frame_free(struct span_frame *frame, struct worker_memory *memory);

/* The frame is found by this address from here on, before any outer one of the same address. */
void frame_list(struct span_frame *frame, const void *address);

/* The innermost frame at an address; NULL: there is none. */
struct span_frame *frame_find(const void *address);

/* The lengths up to the current point. */
struct frame_lengths frame_here(const struct span_frame *frame);

/* Another worker continues with the frame while its last task runs. False without memory. */
bool frame_cut(struct span_frame *frame, struct worker_memory *memory);

/* All its tasks have ended: its prefixes are its longest paths. False if one has not. */
bool frame_sync(struct span_frame *frame, struct worker_memory *memory);

/* A task has ended with a sync: its paths are offered to the frame that spawned it. */
void frame_join_task(struct span_frame *task, struct worker_memory *memory);

/* A procedure has ended with a sync: its caller continues behind it. */
void frame_return(struct span_frame *procedure, struct worker_memory *memory);

#endif
