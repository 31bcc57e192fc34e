/* Arrays of addresses. */
#ifndef HPCSTRUCT_ADDRESSES_H
#define HPCSTRUCT_ADDRESSES_H

#include "lib/mem.h"

#include <stddef.h>
#include <stdint.h>

struct addresses {
    VEC(uint64_t) all;
};

/* Sorts `count` addresses, the smallest first. */
void addresses_sort(uint64_t *addresses, size_t count);

#endif
