/* Work, span and burdened span of programs compiled for OpenCilk's tools (clang -fopencilk
 * -fcilktool=cilkscale): the compiler calls hooks at spawns and syncs, and at begin and end of
 * procedures that spawn.
 *
 * METHOD. Figure 13 of Cilkview, as in work-span.h: prefix, longest, continuation. Hooks come in the
 * order of the program in each strand, but from whichever worker executes it, and no hook tells of
 * workers or steals. Cilkscale keeps a stack in a reducer, which the runtime splits and joins at
 * steals. Here each activation of a procedure and each spawned task has a frame of its own, and the
 * calling thread's current frame is known from the hook before in the same thread:
 *
 *     hook                              current frame behind it
 *     func_entry                        a new one; its caller is the current one
 *     func_exit                         the caller
 *     detach, then task                 a new one, spawned by the current one
 *     task_exit                         none: the runtime decides what is next
 *     detach_continue, after_sync       the frame with this frame pointer, which any worker may
 *                                       continue
 *     before_sync                       none, until after_sync
 *
 * Procedures that spawn have frame pointers, since the runtime needs them.
 *
 * STEALS. A frame that continues while its last task has not ended was stolen: what it had so far
 * becomes a segment, which waits for the task's result (span-frames.h). A steal from a worker that has
 * just ended the task is none here. So memory is proportional to frames that live and to such steals.
 *
 * CONTEXTS. A procedure that spawns is a context, below the procedure that calls or spawns it. A
 * task's own code belongs to the procedure in which it was spawned, and what a task calls is called at
 * the spawn: so fib's caller is fib, not the function into which the compiler puts the task.
 * Procedures that do not spawn have no hooks: they belong to their callers.
 *
 * COMPUTATIONS. The outermost procedure that spawns is a computation, perhaps main itself; what is
 * outside is serial code.
 *
 * BURDEN. As in work-span.h, on the continuation behind each spawn.
 *
 * NOT MEASURED. Cilkscale's exact instruction counts (cilkscale-instructions). */
#ifndef HPCRUN_SPAN_FRAME_SPAN_H
#define HPCRUN_SPAN_FRAME_SPAN_H

#include "hpcrun/span/span-results.h"

/* The events. `address` is the caller's frame pointer. Normal context; any thread. */
struct frame_events {
    /* A procedure that spawns begins. `code` is an address in it, `site` its return address; NULL:
     * unknown. */
    void (*enters)(const void *code, const void *site, const void *address);
    void (*leaves)(const void *address);
    /* `site`: an address at the spawn. */
    void (*detaches)(const void *site, const void *address);
    void (*task_begins)(void);
    void (*task_ends)(void);
    /* `unwinds`: an exception of the task goes on here; all tasks have ended. */
    void (*continues)(const void *address, bool unwinds);
    void (*syncs)(const void *address);
    void (*synced)(const void *address);
    /* The sums up to the call, along the path through it; in serial code those of the program. False,
     * with nothing done, in a thread that executes no strand that is observed. */
    bool (*now)(struct span_totals *totals);
    /* frame_span_problem */
    const char *(*problem)(void);
};

extern const struct frame_events frame_span_events;

/* The same as the event `now`, but false in a task, with which other strands may be in parallel. */
bool frame_span_now_in_series(struct span_totals *totals);

/* What libhpcrun.so exports to libhpctoolkit-cilktool.so; NULL: work and span are not measured. */
const struct frame_events *frame_events_of_hpcrun(void) __asm__("hpctoolkit_frame_events_1")
    __attribute__((visibility("default")));

/* Normal context, after work_span_init. `burden` in ns. `root_site` is called when a computation
 * begins that returns to this address: the site of its context. */
void frame_span_init(uint64_t burden, uint64_t (*root_site)(uint64_t site));

/* From now on, events do nothing. */
void frame_span_stop(void);

/* The process ends: what the calling thread executes ends here, and events do nothing. */
void frame_span_end(void);

/* Whether a computation has begun. */
bool frame_span_has_run(void);

/* Why the values are not right if the process ends here; a string constant, NULL: they are. */
const char *frame_span_problem(void);

#endif
