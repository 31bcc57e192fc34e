/* The loop nest of a control-flow graph, found in one depth-first traversal: T. Wei, J. Mao, W.
 * Zou, Y. Chen, "A New Algorithm for Identifying Loops in Decompilation", SAS 2007, without
 * recursion.
 *
 * A loop is identified by its header, the block by which the traversal enters it first. Irreducible
 * loops (with several entries) are found, too. The traversal starts at the entry, then at each
 * block that is not reached yet, by address, so that the nest does not depend on chance. Code that is
 * not reached from the entry, such as that after a call that never returns, enters no loop that was
 * reached before. */
#ifndef HPCSTRUCT_LOOP_NEST_H
#define HPCSTRUCT_LOOP_NEST_H

#include "hpcstruct/flow/cfg.h"

#define NO_LOOP UINT32_MAX

struct loop {
    uint32_t header; /* block */
    uint32_t parent; /* enclosing loop, smaller than its own index; or NO_LOOP */
    bool irreducible;
};

struct loops {
    VEC(struct loop) all;         /* outer ones first */
    VEC(uint32_t) of_block;       /* per block: its innermost loop, or NO_LOOP */
    bool is_too_complex;          /* the search was given up */
    struct loop_scratch *scratch; /* memory of loops_find; owned */
};

/* Finds the loops of a graph; the memory of `loops` is used again. Finds none in a graph that would
 * take too much time (see MAX_EFFORT). */
void loops_find(struct loops *loops, const struct cfg *cfg);

void loops_free(struct loops *loops);

/* Whether a block lies in a loop or in a loop nested in it. */
static inline bool loop_contains(const struct loops *loops, uint32_t loop, uint32_t block)
{
    uint32_t at = loops->of_block.at[block];
    while (at != NO_LOOP && at > loop)
        at = loops->all.at[at].parent;
    return at == loop;
}

#endif
