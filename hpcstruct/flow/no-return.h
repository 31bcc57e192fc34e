/* Finds the calls that never return. The code after such a call is not reached from it.
 *
 * Functions with known names (exit, __cxa_throw, ...) never return. Any other procedure returns if
 * a return instruction, or an indirect jump without table, can be reached from its entry without
 * passing a call of a procedure that never returns; landing pads of exceptions count as reached,
 * too.
 *
 * 1. Procedures that return whatever they call are found first.
 * 2. Each time a procedure is known to return, the walks that stopped at a call of it continue.
 * 3. Procedures that are not known to return at the end never return. */
#ifndef HPCSTRUCT_NO_RETURN_H
#define HPCSTRUCT_NO_RETURN_H

#include "hpcstruct/code/module-code.h"

/* Sets never_returns of the direct calls of the module. */
void mark_calls_that_never_return(struct module_code *code, unsigned workers);

#endif
