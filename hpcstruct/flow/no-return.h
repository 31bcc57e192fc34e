/* Which calls never return: code behind them is not reached from them.
 *
 * A procedure returns when a return, or a jump to who knows where, can be reached from its entry
 * without passing a call of a procedure that never returns; known names (exit, __cxa_throw, ...)
 * never do. Landing pads of exceptions count as reached. Starting from procedures that return
 * whatever they call, the property spreads to their callers; what it does not reach never
 * returns. */
#ifndef HPCSTRUCT_NO_RETURN_H
#define HPCSTRUCT_NO_RETURN_H

#include "hpcstruct/code/module-code.h"

/* Sets never_returns of the module's direct calls. */
void mark_calls_that_never_return(struct module_code *code);

#endif
