/* Passes minicilk's events (struct minicilk_observer) on to hpcrun, for work and span. */
#ifndef AGENTS_MINICILK_MINICILK_OBSERVER_H
#define AGENTS_MINICILK_MINICILK_OBSERVER_H

#include "agents/agent.h"
#include "runtime-patches/minicilk/minicilk-introspect.h"

/* Normal context, once: from its next initialization on the runtime has the observer. */
void minicilk_observe(const struct agent_host *host, const struct minicilk_introspection *runtime);

#endif
