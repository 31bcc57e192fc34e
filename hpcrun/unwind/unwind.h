/* Signal handler: unwind runs in the sampling handler. It takes no lock and allocates nothing. It
 * makes no system call unless the path leaves the thread's own stack (memory.h) or enters a module
 * for which memory must be mapped (code/module-instances.h).
 *
 * The physical unwinder: from the registers of the interrupted code to the call path, outermost
 * frame first. Two ideas make it fast:
 *  - Rules come from a per-thread cache (rule-cache.h).
 *  - The thread's previous path is reused. The walk goes from the leaf outwards. When it comes to a
 *    frame of the previous path, with the same pc, sp and rbp, the frames outside it are unchanged
 *    if the words that the previous walk read (return addresses and saved rbps) are unchanged. This
 *    check costs one load and one comparison each, and the frames' tree nodes stay valid. A frame
 *    whose words differ is unwound by its rule.
 *
 * Frames without unwind information are guessed (irregular-step.h). sp need not grow, since cactus
 * stacks jump between stacks. A path that can't be completed keeps its inner frames and has a
 * reason.
 *
 * Fibers. A path ends where the stack begins: a fiber's path is complete with the fiber's first
 * function. It belongs to the thread that runs the fiber; the frames that resumed it are on another
 * stack, and not a part of it. The first function has no caller, but its return address is a word that
 * whoever made the stack put there:
 *
 *   0                           many
 *   where a function begins     makecontext, libco, libcoro: a return goes on there
 *   code that no call is before Boost.Context, Go (goexit)
 *   anything else               whatever was in that memory
 *
 * The first of the second kind ends a path on every stack, the others only on stacks that are not the
 * thread's own. The thread's own stack ends where its size and unwind information say. There, such a
 * word means that unwind information is wrong: the code is asked (code-rule.h), or the path is partial.
 * A stub that calls the first function may lack unwind information. It is the outermost frame if its
 * code never returns. */
#ifndef HPCRUN_UNWIND_UNWIND_H
#define HPCRUN_UNWIND_UNWIND_H

#include "hpcrun/unwind/frame.h"

/* Deeper paths are cut: the innermost frames are kept and the path is UNWIND_TOO_DEEP. */
#define UNWIND_MAX_FRAMES 8192
#define UNWIND_FRAMES     (2 * UNWIND_MAX_FRAMES)

enum unwind_end {
    UNWIND_COMPLETE, /* the outermost frame has no caller by its rule, or a stack begins with it */
    UNWIND_NO_FDE,
    UNWIND_NO_RULE,
    UNWIND_NOT_READABLE,
    UNWIND_NOT_A_RETURN_ADDRESS,
    UNWIND_TOO_DEEP,
    UNWIND_NO_PROGRESS,
    UNWIND_BUDGET, /* the search for a caller without unwind information took too long */
};

/* A thread's data for unwinding, kept between samples. */
struct unwinder {
    struct rule_cache *cache;
    struct frame
        *path;       /* UNWIND_FRAMES of them: the path, outermost first, and room for the next */
    uint32_t depth;  /* frames in path */
    uint32_t reused; /* of these, the outermost ones that are the same as in the previous path */
    uint32_t kept;   /* of another process's thread: frames before path[0], the last complete path; 0: path is complete */
    bool is_kept;    /* during a walk: path is not the previous path, but the one that was kept */
    struct frame *fresh; /* during a walk: new frames, innermost first, stored behind the path */
    uint32_t fresh_count;
    uint32_t full_steps; /* of full_step_from, which begins at the leaf, in this walk */
    enum unwind_end end;
    uint64_t stack_low, stack_high; /* the thread's own stack; equal if unknown */
    void *fault_handler;            /* see memory.h */
    const struct memory_elsewhere *elsewhere; /* set before a sample of another process's thread */
    struct memory memory;
    struct guard guard;
    const ucontext_t *context;
};

/* Prepares reads of code, unwind information and memory for the context; then memory_end_sample. */
void unwind_prepare(struct unwinder *u, const ucontext_t *context);

/* Walks from `context` to the outermost frame. Sets path, depth, reused and end. */
enum unwind_end unwind(struct unwinder *u, const ucontext_t *context);

/* frame_caller, after unwind. In a guarded region. */
static inline bool unwind_caller(struct unwinder *u, struct frame *frame, struct frame *caller)
{
    return frame_caller(&u->memory, u->cache, frame, caller);
}

/* Discards the previous path: the next one reuses nothing. */
static inline void unwind_forget(struct unwinder *u)
{
    u->path -= u->kept;
    u->kept = u->depth = 0;
}

/* The ip (code/module-instances.h) of a frame of the last path. */
static inline uint64_t unwind_ip(struct unwinder *u, const struct frame *frame)
{
    return rule_cache_ip(u->cache, frame->pc);
}

/* Whether unwind_caller finds no caller by the frame's rule alone. */
static inline bool unwind_outermost(struct unwinder *u, const struct frame *frame)
{
    struct rule rule = rule_cache_get(u->cache, frame->pc);
    return rule.kind == RULE_OUTERMOST || rule.begins;
}

/* Whether the kernel made the frame for a signal: its callee is the handler. */
static inline bool unwind_is_signal(struct unwinder *u, const struct frame *frame)
{
    return rule_cache_get(u->cache, frame->pc).kind == RULE_SIGNAL;
}

/* Whether the frame is hpcrun's own, so that it must not be recorded. */
static inline bool unwind_hidden(struct unwinder *u, const struct frame *frame)
{
    return rule_cache_get(u->cache, frame->pc).hidden;
}

#endif
