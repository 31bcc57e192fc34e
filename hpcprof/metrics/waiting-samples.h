/* Decides which samples are waiting: a runtime's code spins or blocks until another thread or
 * process has done something. Found after the run, by rules (hpcprof/runtime/rules.h).
 *
 * The physical frames of a sampled call path are examined from the leaf outwards, up to the
 * innermost frame that is neither in a runtime's module nor in the C library nor in a PLT stub. The
 * sample is waiting if one of the frames inside that one
 *   - is in a procedure that `waiting` names, inlined or not,
 *   - is in a procedure that `waiting-code` names, in a loop with a `pause` instruction of its own
 *     or at a waiting system call (doc/FORMAT-structure.md, attribute `w`),
 *   - is a function of the C library that `waiting-call` names, called from the runtime.
 * The innermost rule counts: code called by waiting code waits, unless `working` names it. A
 * callback or task of the program is the program's own code and ends the search. Waiting is paid
 * into a metric of its own in the same context. */
#ifndef HPCPROF_WAITING_SAMPLES_H
#define HPCPROF_WAITING_SAMPLES_H

#include "hpcprof/runtime/runtime-code.h"

struct waiting {
    const struct runtime_code *code;
    bool is_measurable;                   /* some module is a runtime's with rules for waiting */
    const struct rules_file **runtime_of; /* by module: rules of its runtime; NULL: none */
    bool **is_waiting_scope; /* by module and scope; NULL: no runtime, or no structure */
};

/* The result refers to `code`. */
void waiting_find(struct waiting *waiting, const struct runtime_code *code);

void waiting_free(struct waiting *waiting);

/* The state of the search at a node; zeroed for the root. */
struct waiting_state {
    bool is_waiting;                  /* samples at the node are waiting */
    const struct rules_file *runtime; /* of the code at the node, or of its caller; NULL: none */
};

/* The state at a node, from that of its parent. */
struct waiting_state waiting_at(const struct waiting *waiting, const struct frame_code *frame,
                                struct waiting_state caller);

#endif
