/* Sorted arrays of addresses, and of structures that are sorted by an address: binary search. */
#ifndef HPCSTRUCT_SORTED_ADDRESSES_H
#define HPCSTRUCT_SORTED_ADDRESSES_H

#include "lib/alloc.h"
#include "lib/binary-search.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The number of elements of a growable array (lib/alloc.h) whose `field` is below `address`: the
 * index of the first one at or after it. */
#define sorted_below(v, field, address)                                                            \
    partition_point(sorted_i_, (v)->n, (v)->at[sorted_i_].field < (address))

/* The number of elements whose `field` is not above `address`. */
#define sorted_up_to(v, field, address)                                                            \
    partition_point(sorted_i_, (v)->n, (v)->at[sorted_i_].field <= (address))

struct address_list {
    VEC(uint64_t) all;
};

static inline int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts `count` addresses in ascending order. */
static inline void sort_addresses(uint64_t *addresses, size_t count)
{
    if (count)
        qsort(addresses, count, sizeof *addresses, compare_addresses);
}

#endif
