/* The code of a procedure by its source: ranges of addresses with one source line and one chain of
 * inlined calls. */
#ifndef HPCSTRUCT_SOURCE_RANGES_H
#define HPCSTRUCT_SOURCE_RANGES_H

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/flow/loop-nest.h"
#include "hpcstruct/structure/construct-regions.h"

/* ---- chains of inlined calls ----
 *
 * Chains are numbered. Chain 0 is empty: code of the procedure itself. Two inlined copies have the
 * same chain exactly if they are the same in the source: the same functions, called at the same
 * lines (a compiler makes several copies when it unrolls a loop).
 *
 * Constructs of OpenMP (construct-regions.h) count as inlined calls: code in `critical` has the chain
 * of the code around it, then the construct, then the calls that are inlined into the construct. */

#define EMPTY_CHAIN 0u

/* A chain: the one without its innermost call, and that call. */
struct inline_chain {
    uint32_t parent; /* smaller than its own number; the empty chain is its own parent */
    uint32_t depth;  /* number of calls */
    uint32_t function, call_file, call_line; /* as in struct debug_scope */
};

struct inline_chains {
    const struct debug_info *info;
    VEC(struct inline_chain) all;
    struct idmap ids;      /* (parent and function, call site) -> chain */
    struct idmap of_scope; /* scope of the debug information -> chain */
};

/* Removes all chains but the empty one. */
void inline_chains_reset(struct inline_chains *chains, const struct debug_info *info);

void inline_chains_free(struct inline_chains *chains);

/* The chain that ends with a scope of the debug information; the empty chain for DEBUG_NONE. */
uint32_t inline_chains_of_scope(struct inline_chains *chains, uint32_t scope);

/* The longest common prefix of two chains. */
uint32_t inline_chains_common(const struct inline_chains *chains, uint32_t a, uint32_t b);

/* The first `depth` calls of a chain that has at least as many. */
uint32_t inline_chains_prefix(const struct inline_chains *chains, uint32_t chain, uint32_t depth);

/* ---- ranges ---- */

struct source_range {
    uint64_t begin, end; /* in one block */
    uint32_t loop;       /* innermost loop of the block, or NO_LOOP */
    uint32_t chain;      /* number of its inline chain */
    uint32_t file;       /* in debug_info.files, or DEBUG_NONE */
    uint32_t line;       /* 0: unknown */
};

struct source_ranges {
    VEC(struct source_range) all; /* sorted; cover every address of the procedure once */
};

/* Divides the blocks of `cfg`; adds the chains that it needs to `chains`, which was reset before.
 */
void source_ranges_find(struct source_ranges *ranges, const struct cfg *cfg,
                        const struct loops *loops, const struct construct_regions *constructs,
                        const struct debug_info *info, struct inline_chains *chains);

/* Input of source_ranges_fill_lines. */
struct line_context {
    const struct inline_chains *chains;
    const uint32_t *shown_loop; /* per loop: the loop that it is shown as */
    const bool *tagged;         /* per file of the debug information */
    uint32_t procedure_file;    /* file of its declaration, or DEBUG_NONE */
};

/* Compilers give line 0 to code that belongs to no line or to several. Gives such a range the line
 * of the nearest range of the same scope (same loop and chain) that has a line in the file of the
 * scope's function; leaves it at 0 if there is none. Tagged files neither take nor give lines, so
 * that overhead stays what it is. */
void source_ranges_fill_lines(struct source_ranges *ranges, const struct line_context *context);

/* The range that contains an address of the procedure. */
const struct source_range *source_range_at(const struct source_ranges *ranges, uint64_t address);

#endif
