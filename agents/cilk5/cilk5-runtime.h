/* Finds Cilk-5's runtime in the process: its code, which is claimed, and what the agent reads of
 * its data. Functions are for normal context. */
#ifndef AGENTS_CILK5_CILK5_RUNTIME_H
#define AGENTS_CILK5_CILK5_RUNTIME_H

#include "agents/agent.h"

struct range {
    uint64_t begin, end;
};

static inline bool is_in(struct range range, uint64_t pc)
{
    return pc >= range.begin && pc < range.end;
}

/* Tags of claims. MAIN_ENTRY: mt_cilk_main, by which the runtime's main begins the program. */
enum { RUNTIME, IMPORT, MAIN_ENTRY };

/* The one runtime in the process. */
struct runtime {
    struct range scheduler, child_main, root, wakeup_workers;
    struct range linker; /* the dynamic linker, which runs when a function is called first: the only
                            code called by the runtime that is neither its own nor a procedure */
    uint64_t module;     /* start address of the module that has the runtime */
    uint64_t working;    /* address of the counter of working workers; 0: not patched */
    uint64_t site_in_closure; /* offset of the spawn site; 0: not patched */
    bool is_known;            /* it is loaded */
};

/* Any context. What is known of it; zeros as long as there was none. */
const struct runtime *runtime(void);

void runtime_start(const struct agent_host *host);

/* Learns the runtime if it is in this module and the agent can serve it. */
void runtime_look(const struct agent_module *module);

/* Forgets the runtime if it was in this module, which was unloaded. */
void runtime_forget(const struct agent_module *module);

/* The imports in a module, and mt_cilk_main, as claims with these tags; the caller frees. NULL if there
 * are none.
 *
 * C code starts a Cilk procedure f through an import of f; the runtime's root starts the first
 * procedure in this way. The compiler names the import _cilk_f_import, and nothing else identifies
 * it. Only a function that calls f counts: the C compiler may have inlined f, and then the import
 * is f to the user (the rules rename it). An import that calls f through a linkage table is not
 * found and appears as a call of f by f. */
struct agent_claim *imports_find(const struct agent_module *module, size_t *count);

/* Offsets of fields in Cilk-5.4.6's structures, on x86-64, in the default build (no debugging,
 * timing or statistics), which has the symbol LAYOUT_MARK. At every sample of a worker the agent
 * checks that the structures point to each other as expected. */
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
