/* Spawn helpers. A compiler for Cilk (or a hand-lowered program) turns `spawn f(x)` into a call of
 * a helper function, which detaches its caller, that is lets it be stolen, calls f, and pops the
 * caller again. Nobody wrote that function. It is known by what it does, whatever its name: it is
 * what calls the runtime's Cilk_exception_handler, by which a spawned child finds on its return
 * that its caller was stolen. Nothing but the end of a helper calls that.
 *
 * Helpers are found in the code of modules when these are loaded: calls of the function's stub in
 * the module's linkage table, through its slot, or, where the runtime is linked into the module, of
 * the function itself; the unwind table tells the functions that they are in. A helper whose calls
 * are all in a part that the compiler split off is not found, and is shown as a procedure. */
#ifndef AGENTS_OPENCILK_OPENCILK_HELPERS_H
#define AGENTS_OPENCILK_OPENCILK_HELPERS_H

#include "agents/opencilk/opencilk-image.h"

/* Marks of claims; in a helper with user code a spawned statement or a loop's body may be. */
enum { RUNTIME, HELPER, HELPER_WITH_USER_CODE };

/* Normal context: the helpers in the module, ascending, and those functions of a runtime in it that
 * look like some. The caller frees. */
struct agent_claim *helpers_find(const struct image *image, size_t *count);

#endif
