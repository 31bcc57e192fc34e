/* What the agent knows of the memory of OpenCilk's runtime, "Cheetah", v2.1 and the commits after
 * it up to ABI 4's last: offsets of fields, and numbers, which the runtime has in its own headers
 * only. Releases 1.x and 2.0 are laid out otherwise and lack the variable __cilkrts_current_fh;
 * what else can be checked is checked where it is read (agent.c). */
#ifndef AGENTS_OPENCILK_OPENCILK_LAYOUT_H
#define AGENTS_OPENCILK_OPENCILK_LAYOUT_H

enum {
    WORKER_SELF = 0,    /* 32 bits: its index */
    WORKER_GLOBAL = 16, /* NULL before the runtime's constructor ran */
    WORKER_LOCAL = 24,  /* NULL after the runtime's destructor ran, and in unused workers */

    LOCAL_STATE = 8, /* 16 bits */
    STATE_IDLE = 10,
    STATE_RUN = 13, /* executes a closure */

    /* The header of a fiber, a stack of the runtime's. */
    FIBER_WORKER = 0,        /* that runs on it; none in a fiber that was given back */
    FIBER_CURRENT_FRAME = 8, /* innermost frame of a Cilk procedure on it */

    /* What a Cilk procedure keeps for the runtime, in its own stack frame. */
    FRAME_MAGIC = 4, /* 32 bits */
    FRAME_MAGIC_VALUE = 2179696,
    FRAME_FP = 24, /* where it can be resumed: the last spawn's continuation, or the sync's */
    FRAME_PC = 32,
    FRAME_SP = 40,

    GLOBAL_WORKER_COUNT = 24, /* 32 bits */
    GLOBAL_WORKERS = 40,
    GLOBAL_BOSS_SP = 936, /* of the region's outermost procedure, on the stack that it began on */
    MOST_WORKERS = 10000, /* the runtime's own limit */
};

#endif
