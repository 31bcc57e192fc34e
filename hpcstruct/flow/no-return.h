/* Finds the calls that never return. The code after such a call is not reached from it.
 *
 * Functions with known names (exit, __cxa_throw, ...) never return. Any other procedure returns if
 * a return instruction, or an indirect jump without table, can be reached from its entry without
 * passing a call of a procedure that never returns; landing pads of exceptions count as reached,
 * too.
 *
 * Rounds of walks through the code, those of a round in parallel:
 * 1. The first round walks through each procedure from its entry. A walk stops at a call of a procedure
 *    that is not known to return.
 * 2. In the next round, the walks continue that stopped at procedures which the last round found to
 *    return.
 * 3. Procedures that are not known to return at the end never return.
 * Which walks stop depends on the order of the workers; which procedures return does not. */
#ifndef HPCSTRUCT_NO_RETURN_H
#define HPCSTRUCT_NO_RETURN_H

#include "hpcstruct/code/module-code.h"

/* Sets never_returns of the direct calls of the module. */
void mark_calls_that_never_return(struct module_code *code, unsigned workers);

#endif
