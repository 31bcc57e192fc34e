/* Which samples are waiting: time in which a runtime's code spins or blocks until another thread or
 * process has done something, found after the run by rules (hpcprof/runtime/rules.h).
 *
 * Of each sampled call path the physical frames are looked at from the leaf outwards, up to the
 * innermost frame that is neither of a runtime that rules are about, nor of the C library or a stub
 * that calls another module. The sample is waiting if one of the frames before that one
 *   - is in a procedure that `waiting` names, inlined ones too,
 *   - is in a procedure that `waiting-code` names, in a loop with a `pause` instruction of its own,
 *     or at a system call that waits (doc/FORMAT-structure.md, attribute `w`),
 *   - is a function of the C library that `waiting-call` names, called from the runtime.
 * The innermost rule counts: code that waiting code calls waits, unless `working` names it. A
 * callback or a task that the program gave the runtime is the program's own code: there the walk
 * ends. What is waiting is paid, at the same place, into a metric of its own. */
#ifndef HPCPROF_WAITING_SAMPLES_H
#define HPCPROF_WAITING_SAMPLES_H

#include "hpcprof/measurement/measurements.h"
#include "hpcprof/runtime/rules.h"

/* Finds the runtimes among the modules, and their waiting code. Whether there is any runtime whose
 * waiting can be told from work. After runtime_code_find. */
bool waiting_find(struct inputs *inputs);

/* What the walk has come to at a node. */
struct waiting_mark {
    bool is_waiting;
    const struct rules_file
        *runtime; /* of the code at the node, or that called it; NULL for none */
};

/* Sets marks[i] for each node i of a thread; there is room for all nodes. After waiting_find. */
void waiting_mark(const struct inputs *inputs, const struct input *input,
                  const struct measurement_thread *thread, struct waiting_mark *marks);

#endif
