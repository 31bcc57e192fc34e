/* Offsets of fields and constants of OpenCilk's runtime, "Cheetah", v2.1 and later up to the last
 * commit of ABI 4. The runtime has them in private headers. Releases 1.x and 2.0 have another
 * layout and lack the variable __cilkrts_current_fh; agent.c checks the rest where it reads it. */
#ifndef AGENTS_OPENCILK_OPENCILK_LAYOUT_H
#define AGENTS_OPENCILK_OPENCILK_LAYOUT_H

enum {
    WORKER_SELF = 0,    /* 32 bits: its index */
    WORKER_GLOBAL = 16, /* NULL before the runtime's constructor ran */
    WORKER_LOCAL = 24,  /* NULL after the runtime's destructor ran, and in unused workers */

    LOCAL_STATE = 8, /* 16 bits */
    STATE_IDLE = 10,
    STATE_RUN = 13, /* executes a closure */

    /* Header of a fiber, one of the runtime's stacks. */
    FIBER_WORKER = 0,        /* that runs on it; NULL in a fiber that was given back */
    FIBER_CURRENT_FRAME = 8, /* innermost frame of a Cilk procedure on it */

    /* The structure that a Cilk procedure keeps for the runtime in its own stack frame. */
    FRAME_MAGIC = 4, /* 32 bits */
    FRAME_MAGIC_VALUE = 2179696,
    FRAME_FP = 24, /* FP, PC, SP: where it resumes, after the last spawn or sync */
    FRAME_PC = 32,
    FRAME_SP = 40,

    GLOBAL_WORKER_COUNT = 24, /* 32 bits */
    GLOBAL_WORKERS = 40,
    GLOBAL_BOSS_SP = 936, /* sp of the region's outermost procedure, on the boss's own stack */
    MAX_WORKERS = 10000,  /* the runtime's own limit */
};

#endif
