/* Where Cilk-5's runtime is in the process: its code, which is claimed, and what of it the agent
 * looks at. Functions are for normal context. */
#ifndef AGENTS_CILK5_CILK5_RUNTIME_H
#define AGENTS_CILK5_CILK5_RUNTIME_H

#include "agents/agent.h"

struct range {
    uint64_t begin, end;
};

/* Marks of claims. */
enum { RUNTIME, IMPORT };

/* The one runtime in the process. Set in normal context before its code is claimed. */
struct runtime {
    struct range scheduler, child_main, root;
    struct range linker; /* the dynamic linker, which runs at a first call: the one code that the
                            runtime's functions call without its being theirs or a procedure */
    uint64_t module;     /* where the module begins that it is in */
    uint64_t working;    /* address of the count of workers that work; 0: not patched */
    uint64_t site_in_closure; /* offset of the spawn site; 0: not patched */
    _Atomic bool is_known;    /* set last: handlers of other threads run meanwhile */
};

extern struct runtime runtime;

void runtime_start(const struct agent_host *host);

/* Whether the runtime is in this module; a runtime that the agent can't serve is not known. */
void runtime_look(const struct agent_module *module);

/* The module is gone. */
void runtime_forget(const struct agent_module *module);

#endif
