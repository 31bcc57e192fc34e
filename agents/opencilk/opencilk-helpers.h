/* Finds spawn helpers. A Cilk compiler turns `spawn f(x)` into a call of a helper function. The
 * helper
 *   1. detaches its caller, so that it can be stolen,
 *   2. calls f,
 *   3. pops the caller, and calls Cilk_exception_handler if the caller was stolen meanwhile.
 * Only helpers call that function of the runtime, so its calls identify helpers of any name.
 *
 * The search looks, in the code of a newly loaded module, for calls of the function's stub in the
 * linkage table, for calls through its slot, and, if the runtime is linked into the module, for
 * direct calls. The unwind table gives the function around each call. A helper whose calls are all
 * in a cold part that the compiler split off is not found and appears as a procedure. */
#ifndef AGENTS_OPENCILK_OPENCILK_HELPERS_H
#define AGENTS_OPENCILK_OPENCILK_HELPERS_H

#include "agents/opencilk/opencilk-image.h"

/* Tags of claims. A helper with user code may contain a spawned statement or a loop's body. */
enum { RUNTIME, HELPER, HELPER_WITH_USER_CODE };

/* Normal context. The helpers in the module, ascending; also functions of a runtime in the module
 * that look like helpers. The caller frees. */
struct agent_claim *helpers_find(const struct image *image, size_t *count);

#endif
