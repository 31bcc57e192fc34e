/* Offsets of fields in Cilk-5.4.6's structures, on x86-64, in the default build (no debugging,
 * timing or statistics), which has the symbol LAYOUT_MARK. At every sample of a worker the agent
 * checks that the structures point to each other as expected. */
#ifndef AGENTS_CILK5_CILK5_LAYOUT_H
#define AGENTS_CILK5_CILK5_LAYOUT_H

#define LAYOUT_MARK "Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile"

enum {
    CHILD_CONTEXT = 0, /* CilkChildParams: the argument of a worker's start routine */
    CHILD_ID = 8,

    CONTEXT_PARAMETERS = 0, /* CilkContext */

    PARAMETERS_WORKERS = 32, /* CilkReadOnlyParams */
    PARAMETERS_DEQUES = 56,

    DEQUE_SIZE = 120, /* ReadyDeque */
    DEQUE_BOTTOM = 48,

    CLOSURE_STATUS = 44, /* Closure_s */
    CLOSURE_PARENT = 80,
    CLOSURE_FRAME = 88,
    CLOSURE_CACHE = 104,

    FRAME_SIGNATURE = 16, /* CilkStackFrame */
    SIGNATURE_SLOW = 16,  /* CilkProcInfo[0]: the procedure's slow clone */

    WORKER_STACK = 24, /* CilkWorkerState; begins with the cache that closures point to */
    WORKER_SELF = 96,
    WORKER_CONTEXT = 376,
};

enum { STATUS_RUNNING = 42, STATUS_RETURNING = 44 };

#endif
