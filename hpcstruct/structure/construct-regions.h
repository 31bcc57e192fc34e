/* The code of OpenMP's constructs in one procedure: the code between the call that begins a construct
 * and those that end it, along the control flow.
 *
 * - A construct begins with the call, whose waiting is a part of it. It ends behind the calls that end
 *   it, or where the procedure is left.
 * - Where the runtime chooses the thread that executes the construct (single, master), its code is one
 *   side of the branch behind the call, up to the other side. A construct whose end is not found is
 *   left out. */
#ifndef HPCSTRUCT_CONSTRUCT_REGIONS_H
#define HPCSTRUCT_CONSTRUCT_REGIONS_H

#include "hpcstruct/flow/cfg.h"
#include "hpcstruct/structure/openmp-constructs.h"

struct construct_region {
    const struct construct_call *call; /* that begins it */
    uint32_t depth;                    /* number of constructs around it */
};

struct region_range {
    uint64_t begin, end;
    uint32_t region;
};

struct open_block {
    uint32_t block;
    uint32_t depth; /* constructs of the kind that were begun on the way to it and not ended */
};

struct construct_regions {
    VEC(struct construct_region) all; /* outer ones first */
    VEC(struct region_range) ranges;  /* each in one block */
    VEC(uint64_t) bounds;             /* at which ranges begin and end; sorted */
    /* Used by construct_regions_find. */
    VEC(struct open_block) open;
    VEC(bool) seen; /* per block */
};

/* Finds the constructs of the procedure of a graph; the memory of `regions` is used again. */
void construct_regions_find(struct construct_regions *regions, const struct cfg *cfg,
                            const struct construct_calls *calls);

void construct_regions_free(struct construct_regions *regions);

/* Whether an address is in a region. */
bool construct_region_contains(const struct construct_regions *regions, uint32_t region,
                               uint64_t address);

#endif
