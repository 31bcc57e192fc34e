/* The chains of inlined functions in one procedure, outermost first.
 *
 * Chains are numbered; chain 0 is the empty one, the procedure's own code. Two instances of
 * inlined code have the same chain exactly when they look the same in the source: same functions,
 * called at the same lines (a compiler makes such copies when it unrolls loops). */
#ifndef HPCSTRUCT_INLINE_CHAINS_H
#define HPCSTRUCT_INLINE_CHAINS_H

#include "hpcstruct/debug-info.h"

#define EMPTY_CHAIN 0u

/* A chain: the one around it, and the function inlined innermost. */
struct chain {
    uint32_t parent; /* smaller than its own number; of the empty chain itself */
    uint32_t depth;  /* number of functions */
    uint32_t function, call_file, call_line; /* as in struct debug_scope */
};

struct chains {
    const struct debug_info *info;
    VEC(struct chain) all;
    struct idmap ids;      /* (parent and function, call site) -> chain */
    struct idmap of_scope; /* scope -> chain */
};

/* Forgets all chains but the empty one. */
void chains_reset(struct chains *chains, const struct debug_info *info);

void chains_free(struct chains *chains);

/* The chain that ends with a scope of the debug information (DEBUG_NONE: the empty chain). */
uint32_t chains_of_scope(struct chains *chains, uint32_t scope);

/* The longest chain that both begin with. */
uint32_t chains_common(const struct chains *chains, uint32_t a, uint32_t b);

/* The first `depth` functions of a chain that is not shorter. */
uint32_t chains_prefix(const struct chains *chains, uint32_t chain, uint32_t depth);

#endif
