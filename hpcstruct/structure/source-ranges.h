/* A procedure's code cut into pieces: runs of addresses in one block that have one source line and
 * one chain of inlined functions. They cover every address of the procedure once. */
#ifndef HPCSTRUCT_SOURCE_RANGES_H
#define HPCSTRUCT_SOURCE_RANGES_H

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/flow/loop-nest.h"

/* The chains of inlined functions in one procedure, outermost first.
 *
 * Chains are numbered; chain 0 is the empty one, the procedure's own code. Two instances of
 * inlined code have the same chain exactly when they look the same in the source: same functions,
 * called at the same lines (a compiler makes such copies when it unrolls loops). */

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

/* ---- pieces ---- */

struct piece {
    uint64_t begin, end;
    uint32_t loop;  /* innermost one around its block, or NO_LOOP */
    uint32_t chain; /* in chains */
    uint32_t file;  /* in debug_info.files, or DEBUG_NONE */
    uint32_t line;  /* 0: unknown */
};

struct pieces {
    VEC(struct piece) all; /* sorted */
};

/* Cuts the blocks of `cfg`; the chains (reset before) grow as needed. */
void pieces_cut(struct pieces *pieces, const struct cfg *cfg, const struct loops *loops,
                const struct debug_info *info, struct chains *chains);

/* The piece that an address of the procedure lies in. */
const struct piece *pieces_at(const struct pieces *pieces, uint64_t address);

#endif
