/* Imports: functions through which C code starts a Cilk procedure, the runtime's root the user's
 * first one. The compiler makes one for each procedure f and names it _cilk_f_import, as it names
 * f's slow clone _cilk_f_slow; nothing else tells them. It is believed of a function that calls f,
 * too: the C compiler may have put f into its import, which is then f to the user (as the agent's
 * rules say), and no glue. One that calls f through a linkage table is not found: it is shown as a
 * call of f by f. */
#ifndef AGENTS_CILK5_CILK5_IMPORTS_H
#define AGENTS_CILK5_CILK5_IMPORTS_H

#include "agents/agent.h"

/* Normal context: the imports in a module, as claims with `mark`; the caller frees. NULL without
 * any. */
struct agent_claim *imports_find(const struct agent_module *module, uint32_t mark, size_t *count);

#endif
