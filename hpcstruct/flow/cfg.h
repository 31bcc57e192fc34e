/* The control-flow graph of one procedure.
 *
 * - The blocks cover every byte of the procedure.
 * - A block ends where control may go elsewhere than to the next instruction. Calls end no block
 * unless they never return.
 * - Jumps out of the procedure (tail calls) have no edge.
 * - A call has an edge to the landing pad of its exceptions. */
#ifndef HPCSTRUCT_CFG_H
#define HPCSTRUCT_CFG_H

#include "hpcstruct/code/module-code.h"

#define NO_BLOCK UINT32_MAX

struct block {
    uint64_t begin, end;
    uint64_t last; /* address of the instruction that ends it: a jump, branch, return, or call that
                      does not return; `end` if control continues with the next block */
    uint32_t first_successor, successor_count; /* range of cfg.successors */
    uint32_t fragment;                         /* its number in the procedure, by address */
    bool leaves; /* control may go from its end out of the procedure */
};

struct cfg {
    VEC(struct block) blocks; /* sorted by address */
    VEC(uint32_t) successors; /* indices of blocks */
    uint32_t entry;           /* NO_BLOCK if there are no blocks */
    /* Used by cfg_build. */
    VEC(uint64_t) leaders; /* addresses at which blocks begin */
    struct landing_pads pads;
};

/* Builds the graph of a procedure in `cfg`, whose memory is used again. */
void cfg_build(struct cfg *cfg, const struct module_code *code, const struct procedure *procedure);

void cfg_free(struct cfg *cfg);

#endif
