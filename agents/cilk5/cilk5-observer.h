/* Passes the events of a patched Cilk-5 (runtime-patches/cilk5/description.h) on to hpcrun, for work
 * and span. */
#ifndef AGENTS_CILK5_CILK5_OBSERVER_H
#define AGENTS_CILK5_CILK5_OBSERVER_H

#include "agents/agent.h"
#include "runtime-patches/cilk5/description.h"

/* Normal context. Computations that begin from now on have the observer. */
void cilk5_observe(const struct agent_host *host, struct hpctoolkit_cilk5 *description);

#endif
