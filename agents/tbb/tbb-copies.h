/* The copies of libtbb in the process (common/runtime-copies.h). A copy's own calls go to itself.
 * Normal context. */
#ifndef AGENTS_TBB_TBB_COPIES_H
#define AGENTS_TBB_TBB_COPIES_H

#include "agents/tbb/tbb-functions.h"

/* The functions that a caller means, by its return address; those of any copy if the caller's module
 * has none. Ends the process if there is no copy at all. */
const struct tbb_functions *tbb_functions_for(uint64_t caller);

/* Whether an address is in a known copy. */
bool tbb_has_code_at(uint64_t address);

/* A libtbb was loaded, which has this address. */
void tbb_add_module(uint64_t address);

/* A module was unloaded: forgets callers in it, and its copy. */
void tbb_forget_module(uint64_t start, uint64_t end);

#endif
