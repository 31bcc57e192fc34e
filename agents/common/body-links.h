/* Links from a thread's stack to the calling context of the construct that the thread runs.
 *
 *     stack of a member of the team        what is kept
 *     body of the region or task
 *     run_region() or run_task()           struct body_link, in this frame
 *     libgomp                              |
 *     ...                                  `-> struct creation_context: where the construct was begun
 *
 * A link is published in the thread's slot (common/thread-slots.h) while the body runs; `up` leads
 * to the link of the next such frame outwards. Handlers read links and contexts: a thread publishes
 * a link after it has filled it, and withdraws it before the frame ends.
 *
 * A context says where the frames are that began the construct:
 *
 *     CONTEXT_ON_STACK   on their own stack, where they stay until the construct has ended: the
 *                        caller of GOMP_parallel, and of GOMP_taskloop if it waits for its tasks
 *     CONTEXT_COPY       in a copy that GOMP_task made of the creator's stack, since the creator may
 *                        have gone on when the task runs; outside of the copy, `parent` continues
 *     CONTEXT_SITE       only the call is known; `parent` continues */
#ifndef AGENTS_BODY_LINKS_H
#define AGENTS_BODY_LINKS_H

#include "agents/common/thread-slots.h"
#include "lib/opaque.h"

enum creation_context_kind { CONTEXT_ON_STACK, CONTEXT_COPY, CONTEXT_SITE };

struct body_link;

struct creation_context {
    uint64_t kind;       /* enum creation_context_kind */
    uint64_t pc, sp, bp; /* of the frame that called libgomp: return address, and registers there */
    uint64_t up; /* CONTEXT_ON_STACK: address of the innermost link of that frame's stack; or 0 */
    uint64_t parent;    /* else: address of the context in which the copied frames ran; or 0 */
    uint64_t low, high; /* CONTEXT_COPY: address range of the frames on the creator's stack */
    uint64_t copy;      /* CONTEXT_COPY: address of the copy of `low` */
    uint64_t body;      /* else: body of the link at which the creator's frames end; 0: unknown */
    uint64_t thread; /* agent_slot.thread of the thread that created it. 0: not kept, but that of a
                           context around it */
};

struct parallel_region;

struct body_link {
    struct body_link *up; /* next link outwards on this stack; NULL: none */
    const struct creation_context *context;
    uint64_t sp;             /* address in the frame of this link */
    uint64_t is_inline;      /* the frames that began the construct are next on this stack */
    uint64_t is_inline_task; /* is_inline, and libomp executes the task where it is created */
    struct parallel_region *region; /* the innermost region around it; NULL: none */
    uint64_t body;                  /* address of the body's code; 0: unknown */
    struct task_record *record;     /* of its task, or made for its first child; NULL: none yet */
};

/* A parallel region. */
struct parallel_region {
    struct creation_context context;
    const struct agent_slot *master;
    uint64_t team;                      /* agent_slot_team.id of its members */
    struct agent_slot_team outside;     /* the master's team outside of it */
    _Atomic bool is_cancelled;          /* some tasks of it may never have run */
    _Atomic(struct task_record *) kept; /* records that live until it ends; NULL: none */
};

/* The registers of the caller, in a function that is compiled with a frame pointer. */
#define CALLER_PC ((uint64_t)__builtin_return_address(0))
#define CALLER_SP ((uint64_t)__builtin_dwarf_cfa())
#define CALLER_BP (*(const uint64_t *)__builtin_frame_address(0))

/* Functions in this section call bodies of constructs; agent.c recognizes their frames by it, and
 * hpcprof the kind of the construct by their names (gomp.rules). The body of such a function is
 * inlined: OPAQUE keeps the compiler from merging equal ones. */
#define INLINED    inline __attribute__((always_inline))
#define TRAMPOLINE __attribute__((section("hpctoolkit_trampolines"))) OPAQUE

#define TRAMPOLINE_BOUND(symbol) __asm__(symbol) __attribute__((weak, visibility("hidden")))
extern const char trampolines_start[] TRAMPOLINE_BOUND("__start_hpctoolkit_trampolines");
extern const char trampolines_end[] TRAMPOLINE_BOUND("__stop_hpctoolkit_trampolines");

static inline bool is_trampoline(uint64_t pc)
{
    return pc >= (uint64_t)trampolines_start && pc < (uint64_t)trampolines_end;
}

/* The compiler keeps the order of the stores before and after it. */
#define PUBLISH() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static inline void link_publish(struct agent_slot_part *thread, struct body_link *link)
{
    PUBLISH();
    thread->link = link;
    PUBLISH();
}

static inline void link_withdraw(struct agent_slot_part *thread, const struct body_link *link)
{
    PUBLISH();
    thread->link = link->up;
    PUBLISH();
}

#endif
