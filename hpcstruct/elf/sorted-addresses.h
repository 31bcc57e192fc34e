/* Sorted arrays of addresses, and of structures that are sorted by an address: binary search. */
#ifndef HPCSTRUCT_SORTED_ADDRESSES_H
#define HPCSTRUCT_SORTED_ADDRESSES_H

#include "lib/alloc.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The number of elements whose address is below `address`: the index of the first one at or after
 * it. `first` is the address in the first of `count` elements, which are `stride` bytes apart. */
static inline size_t count_below(const uint64_t *first, size_t count, size_t stride,
                                 uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const uint64_t *at =
            (const uint64_t *)(const void *)((const char *)first + middle * stride);
        if (*at < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for a growable array (lib/alloc.h) of structures with the address in `field`. */
#define sorted_below(v, field, address)                                                            \
    ((v)->n ? count_below(&(v)->at->field, (v)->n, sizeof *(v)->at, (address)) : 0)

/* The number of elements whose address is not above `address`. */
#define sorted_up_to(v, field, address)                                                            \
    ((address) == UINT64_MAX ? (v)->n : sorted_below(v, field, (address) + 1))

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
