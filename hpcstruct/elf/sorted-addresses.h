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

/* As qsort, for tables that compilers and linkers have nearly always sorted. */
static inline void sort_table(void *table, size_t count, size_t size,
                              int (*compare)(const void *, const void *))
{
    const char *at = table;
    for (size_t i = 1; i < count; i++, at += size)
        if (compare(at, at + size) > 0) {
            qsort(table, count, size, compare);
            return;
        }
}

struct address_list {
    VEC(uint64_t) all;
};

static inline int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Above this number, qsort is faster: its calls of compare_addresses cost less than the comparisons
 * of distant elements. */
#define MOST_OF_SHELL_SORT 512

/* Sorts `count` addresses in ascending order. Most lists are short: a procedure has 50 addresses at
 * which blocks begin. Shell's sort needs no calls. */
static inline void sort_addresses(uint64_t *addresses, size_t count)
{
    static const size_t gaps[] = {132, 57, 23, 10, 4, 1};
    if (count > MOST_OF_SHELL_SORT) {
        qsort(addresses, count, sizeof *addresses, compare_addresses);
        return;
    }
    for (size_t k = 0; k < sizeof gaps / sizeof *gaps; k++)
        for (size_t i = gaps[k]; i < count; i++) {
            uint64_t moved = addresses[i];
            size_t at = i;
            for (; at >= gaps[k] && addresses[at - gaps[k]] > moved; at -= gaps[k])
                addresses[at] = addresses[at - gaps[k]];
            addresses[at] = moved;
        }
}

#endif
