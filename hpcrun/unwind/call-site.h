/* Signal handler: everything here runs in the sampling handler.
 *
 * What the code before an address says: whether that is a return address, and where the call leads.
 */
#ifndef HPCRUN_UNWIND_CALL_SITE_H
#define HPCRUN_UNWIND_CALL_SITE_H

#include "hpcrun/unwind/memory.h"

/* Whether `address` lies in readable memory and directly behind a call instruction. */
bool call_site_is_before(struct memory *memory, uint64_t address);

/* Where the call before `ra` leads, if it is one that names a place. */
bool call_site_target(struct memory *memory, uint64_t ra, uint64_t *target);

/* Whether the call before `ra` surely leads to `function`: at once, by the PLT, or by the word of a
 * global offset table that it names. */
bool call_site_calls(struct memory *memory, uint64_t ra, uint64_t function);

#endif
