/* The copies of libtbb in the process. A plug-in may bring its own. Each caller must get the
 * functions to which the dynamic linker would have bound it, and a copy's own calls its own
 * functions. Callers are known by their return addresses. Normal context. */
#ifndef AGENTS_TBB_TBB_COPIES_H
#define AGENTS_TBB_TBB_COPIES_H

#include "agents/tbb/tbb-functions.h"

/* The functions that a caller means, by its return address. Ends the process if there are none: the
 * program cannot have been linked. */
const struct tbb_functions *tbb_functions_for(uint64_t caller);

/* Whether an address is in a copy that was called before, or whose thread started there. */
bool tbb_has_code_at(uint64_t address);

/* A libtbb was loaded at these addresses. */
void tbb_add_module(uint64_t start, uint64_t end);

/* A module was unloaded: forgets callers in it, and its copy. */
void tbb_forget_module(uint64_t start, uint64_t end);

#endif
