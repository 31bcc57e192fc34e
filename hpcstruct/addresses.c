#include "hpcstruct/addresses.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void addresses_sort(uint64_t *addresses, size_t count)
{
    if (count)
        qsort(addresses, count, sizeof *addresses, by_value);
}
