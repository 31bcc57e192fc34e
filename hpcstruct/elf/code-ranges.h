/* A set of address ranges. */
#ifndef HPCSTRUCT_CODE_RANGES_H
#define HPCSTRUCT_CODE_RANGES_H

#include "hpcstruct/elf/sorted-addresses.h"

#include <stdbool.h>

struct code_range {
    uint64_t begin, end;
};

struct code_ranges {
    VEC(struct code_range) all; /* sorted and disjoint */
};

/* Whether some byte from `begin` to `end` is in one of the ranges. */
static inline bool code_ranges_overlap(const struct code_ranges *ranges, uint64_t begin,
                                       uint64_t end)
{
    size_t after = sorted_up_to(&ranges->all, begin, begin);
    bool is_in = after && begin < ranges->all.at[after - 1].end;
    return begin < end && (is_in || (after < ranges->all.n && ranges->all.at[after].begin < end));
}

#endif
