/* Signal handler: everything here runs in the sampling handler.
 *
 * The call instruction before an address: whether there is one, and its target. */
#ifndef HPCRUN_UNWIND_CALL_SITE_H
#define HPCRUN_UNWIND_CALL_SITE_H

#include "hpcrun/unwind/memory.h"

/* Whether `address` lies in readable memory, directly behind a call instruction. */
bool call_site_is_before(struct memory *memory, uint64_t address);

/* Sets *target to the target of the call before `ra`; false unless it is a direct call. */
bool call_site_target(struct memory *memory, uint64_t ra, uint64_t *target);

/* Whether the call before `ra` calls `function` for sure: directly, through the PLT, or through a
 * word of the global offset table. */
bool call_site_calls(struct memory *memory, uint64_t ra, uint64_t function);

#endif
