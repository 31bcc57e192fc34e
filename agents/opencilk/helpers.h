/* Spawn helpers. A compiler for Cilk (or a hand-lowered program) turns `spawn f(x)` into a call of
 * a helper function, which detaches its caller, that is lets it be stolen, calls f, and pops the
 * caller again. Nobody wrote that function. It is known by what it does, whatever its name: it is
 * what calls the runtime's Cilk_exception_handler, by which a spawned child finds on its return
 * that its caller was stolen. Nothing but the end of a helper calls that.
 *
 * Helpers are found in the code of modules when these are loaded: calls of the function's stub in
 * the module's linkage table, or through its slot; the unwind table tells the functions that they
 * are in. A helper whose calls are all in a part that the compiler split off is not found, and is
 * shown as a procedure. */
#ifndef AGENTS_OPENCILK_HELPERS_H
#define AGENTS_OPENCILK_HELPERS_H

#include "agents/opencilk/image.h"

struct helper {
    uint64_t start, end;
    bool has_user_code; /* a spawned statement or a loop's body may be in it */
};

/* Normal context: adds the module's helpers, and calls `found` for each. */
void helpers_learn(const struct image *image, void (*found)(const struct helper *helper));

/* Normal context: forgets those in [start, end). */
void helpers_forget(uint64_t start, uint64_t end);

/* Handler: the helper around an address; NULL when it is in none. */
const struct helper *helpers_at(uint64_t address);

#endif
