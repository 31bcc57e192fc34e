/* What a profiler or debugger may read of a running minicilk, from outside and at any instant.
 *
 * One exported object, `minicilk_introspection`, describes everything. Reading it needs no
 * thread-local storage, no call into the runtime and no lock; guarded reads of the process's memory
 * suffice. This header includes nothing of the runtime. A reader finds the object by its symbol or,
 * also in a statically linked, stripped program, by an ELF note of its module: owner "minicilk",
 * type 1, 8 bytes of data, the distance from these bytes to the object.
 *
 * Working workers. `live->n` workers exist; `live->n_w` of them execute user work at this instant.
 * The count goes up before a worker calls a base body, and down when that body has returned to the
 * scheduler; the worker's `state` changes with it. Worker 0 is the thread that called CILK_RUN.
 * Between computations its state is MINICILK_OUTSIDE: it runs serial code of the program, and n_w
 * does not count it.
 *
 * The logical call path of a thread in state MINICILK_WORKING, innermost first:
 *   1. Unwind the C stack down to the frame of `cilk_call_base`, the only function that calls base
 *      bodies; the thread is in that state only within it. The frame's address is in [base_begin,
 *      base_end). Frames on the way in [text_begin, text_end) are the runtime's own (slow paths of
 *      spawn and sync), all others the program's; the C frame of a body is exactly one procedure
 *      activation. If all frames on the way are the runtime's, the thread is about to enter the
 *      body or has just left it.
 *   2. b = worker->base. While b->parent is not NULL: b->site is the return address of the call
 *      that spawned b, in the code of b->parent's procedure (look up site - 1); then b = b->parent.
 *   3. b is the root. Its call site is live->caller_pc (its own `site` is in cilk_call_base). The
 *      path continues in the C stack of the thread that called CILK_RUN, from caller_pc, caller_sp
 *      and caller_bp: the register values of the caller when the run returns to it.
 * The deque is not needed. `frame->entry` must not be used for sites, since thieves advance it.
 *
 * Lifetimes.
 *   - While a thread is in state MINICILK_WORKING, its `base` frame and the ancestors of it are
 *     live, and their `parent`, `body` and `site` don't change. The path is exact at every instant,
 *     because a worker clears `base` before it tells the parent that the frame is done.
 *   - The C stack above caller_sp (higher addresses) does not change from the start of the run
 *     until it returns, and every body ends before that.
 *   - `workers` is mapped before minicilk_init starts the first thread and until minicilk_shutdown
 *     has joined the last one. Outside of that interval it is NULL, and n is 0. */
#ifndef MINICILK_INTROSPECT_H
#define MINICILK_INTROSPECT_H

#include <stdbool.h>
#include <stdint.h>

/* Must be raised when a meaning or an offset changes that readers do not take from the object. */
#define MINICILK_LAYOUT 3
#define MINICILK_MAGIC  UINT64_C(0x6b6c6963696e696d) /* "minicilk" in memory */

/* worker->state */
enum minicilk_state {
    MINICILK_OUTSIDE = 0,    /* not in the runtime: worker 0 between computations */
    MINICILK_SCHEDULING = 1, /* looks for work, or sleeps */
    MINICILK_WORKING = 2     /* executes user work */
};

/* The variables; they change while the program runs. */
struct minicilk_live {
    /* On its own cache line: every worker that gets or loses work writes it. */
    _Alignas(64) _Atomic uint32_t n_w;
    _Alignas(64) _Atomic uint32_t n;
    _Atomic uint32_t running;      /* 1 from the start of a CILK_RUN to its return */
    const char *_Atomic workers;   /* n workers, worker_size bytes each */
    const void *_Atomic caller_pc; /* return address of the run in its caller */
    const void *_Atomic caller_sp; /* the caller's stack pointer behind that return */
    const void *_Atomic caller_bp; /* its rbp */
    const struct minicilk_observer *_Atomic observer; /* set from outside; NULL: none */
};

struct minicilk_frame;

/* Calls that tell an observer the dag of a computation. minicilk_init reads live->observer; the
 * observer is called until minicilk_shutdown. Without an observer the runtime executes no instruction
 * for this: the calls are in slow paths that spawns, pops and syncs then always take.
 *
 * The functions are called by the thread of the worker with this number, on its stack, and may
 * take locks and memory, but must not spawn. `frame` is valid during the call; a frame's body and
 * site are valid from its procedure's first call of the observer, or its return, on. Each worker
 * has a stack of procedures that it executes; the bottom one is its base. */
struct minicilk_observer {
    /* CILK_RUN begins: the root will be the base of some worker. */
    void (*run_begins)(unsigned worker, const struct minicilk_frame *root);
    /* CILK_RUN has ended. */
    void (*run_ended)(unsigned worker);
    /* The worker executes this frame as its base: a root, a stolen frame, or one that was suspended
     * and whose children have all ended. */
    void (*resumed)(unsigned worker, const struct minicilk_frame *frame);
    /* What the worker does until its next call of the observer is the runtime's work. */
    void (*paused)(unsigned worker);
    /* The top procedure spawns `child`, which becomes the top; its body is valid. True: until the
     * child returns, or the worker resumes another base, nothing is told of the child and its
     * descendants but steals, and they run as in a runtime that is not observed. */
    bool (*spawned)(unsigned worker, const struct minicilk_frame *child);
    /* The top procedure has returned, and its children have ended. Its parent is the top now; or
     * the parent was stolen, and all of the worker's procedures, too. */
    void (*returned)(unsigned worker);
    void (*orphaned)(unsigned worker);
    /* The top procedure's children have all ended at a sync. */
    void (*synced)(unsigned worker);
    /* The base must wait for children of its own that others execute. */
    void (*suspended)(unsigned worker, const struct minicilk_frame *base);
    /* The base has returned, and its children have ended. */
    void (*ended)(unsigned worker, const struct minicilk_frame *base);
    /* Called by a thief while it holds the victim's lock: takes the bottom one of the victim's
     * procedures that were not stolen yet. The thief resumes it. */
    void (*stolen)(unsigned victim, const struct minicilk_frame *frame);
};

struct minicilk_introspection {
    uint64_t magic;  /* MINICILK_MAGIC */
    uint32_t layout; /* MINICILK_LAYOUT */
    uint32_t size;   /* of this struct */
    const struct minicilk_live *live;
    const char *text_begin, *text_end; /* the runtime's code; parallel loops are not in it */
    const char *base_begin, *base_end; /* cilk_call_base */
    /* Byte offsets in a worker. */
    uint32_t worker_size;
    uint32_t worker_tid;   /* int32_t: the kernel's thread id; 0 before the thread has begun; in
                              worker   0 that of the latest caller of a run */
    uint32_t worker_state; /* uint32_t: enum minicilk_state */
    uint32_t worker_base;  /* pointer to a frame; NULL in the scheduler */
    /* Byte offsets in a frame; each field is a pointer. */
    uint32_t frame_parent;
    uint32_t frame_body; /* the procedure's function */
    uint32_t frame_site;
};

/* Constant after relocation; exported by the shared library, global in the static one. */
extern const struct minicilk_introspection minicilk_introspection;

#endif
