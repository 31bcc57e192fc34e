/* The loop nest of a control-flow graph, found in one depth-first pass: T. Wei, J. Mao, W. Zou,
 * Y. Chen, "A New Algorithm for Identifying Loops in Decompilation", SAS 2007, without recursion.
 *
 * A loop is named by its header, the block that the pass enters it by; loops with several entries
 * (irreducible ones) are found, too. The pass starts at the entry, then at blocks that it has not
 * reached, in the order of their addresses, so that the nest is the same every time. */
#ifndef HPCSTRUCT_LOOP_NEST_H
#define HPCSTRUCT_LOOP_NEST_H

#include "hpcstruct/flow/cfg.h"

#define NO_LOOP UINT32_MAX

struct loop {
    uint32_t header; /* block */
    uint32_t parent; /* loop around it, smaller than its own index, or NO_LOOP */
    bool irreducible;
};

struct loops {
    VEC(struct loop) all;         /* outer ones first */
    VEC(uint32_t) of_block;       /* the innermost loop around each block, or NO_LOOP */
    struct loop_scratch *scratch; /* of loops_find; owned */
};

/* Finds the loops of a graph into `loops`, whose memory is used again. A graph so tangled that the
 * effort would be out of proportion has none. */
void loops_find(struct loops *loops, const struct cfg *cfg);

void loops_free(struct loops *loops);

/* Whether a block lies in a loop (or in one inside of it). */
static inline bool loop_contains(const struct loops *loops, uint32_t loop, uint32_t block)
{
    uint32_t at = loops->of_block.at[block];
    while (at != NO_LOOP && at > loop)
        at = loops->all.at[at].parent;
    return at == loop;
}

#endif
