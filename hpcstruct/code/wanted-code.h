/* The code that matters for the procedures at some addresses: those of samples, for instance. */
#ifndef HPCSTRUCT_WANTED_CODE_H
#define HPCSTRUCT_WANTED_CODE_H

#include "hpcstruct/code/cross-jumps.h"
#include "hpcstruct/elf/sorted-addresses.h"

struct code_range {
    uint64_t begin, end;
};

/* Sorted and disjoint. */
struct code_ranges {
    VEC(struct code_range) all;
};

/* Adds the code of all owners that may be in one procedure with an owner of one of the addresses: those
 * that cross jumps connect with it. Whatever debug information links (procedures.h) is linked by that of
 * this code. */
void wanted_code_find(struct code_ranges *wanted, const struct address_list *addresses,
                      const struct code_map *map, const struct cross_jumps *cross_jumps);

void code_ranges_free(struct code_ranges *ranges);

/* Whether some byte from `begin` to `end` is in one of the ranges. */
bool code_ranges_overlap(const struct code_ranges *ranges, uint64_t begin, uint64_t end);

#endif
