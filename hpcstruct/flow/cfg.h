/* The control-flow graph of one procedure.
 *
 * Its blocks cover every byte of the procedure. A block ends where control may go elsewhere than
 * on; calls end none, unless they never return. Jumps out of the procedure (tail calls) have no
 * edge. A call in the range of a landing pad of exceptions has an edge to it. */
#ifndef HPCSTRUCT_CFG_H
#define HPCSTRUCT_CFG_H

#include "hpcstruct/code/module-code.h"

#define NO_BLOCK UINT32_MAX

struct block {
    uint64_t begin, end;
    uint64_t last; /* address of the instruction that ends it: a jump, branch, return, or a call
                      that does not return; end when control just goes on */
    uint32_t first_successor, successor_count; /* range of cfg.successors */
    uint32_t fragment;                         /* number in the procedure, by address */
    bool leaves; /* one of the ways from its end leads out of the procedure */
};

struct cfg {
    VEC(struct block) blocks; /* sorted */
    VEC(uint32_t) successors; /* indices of blocks */
    uint32_t entry;           /* NO_BLOCK when there is no block */
    /* Scratch memory of cfg_build. */
    VEC(uint64_t) leaders;
    struct landing_pads pads;
};

/* Builds the graph of a procedure into `cfg`, whose memory is used again. */
void cfg_build(struct cfg *cfg, const struct module_code *code, const struct procedure *procedure);

void cfg_free(struct cfg *cfg);

#endif
