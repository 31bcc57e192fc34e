/* The serial parts of cilksort, for Cilk and for OpenMP. */
#ifndef TESTS_PROGRAMS_CILK_SERIAL_SORT_H
#define TESTS_PROGRAMS_CILK_SERIAL_SORT_H

#include <stdint.h>
#include <string.h>

typedef uint32_t key;

enum { SORT_SERIALLY = 2048, MERGE_SERIALLY = 2048 };

static int compare(const void *a, const void *b)
{
    const key x = *(const key *)a, y = *(const key *)b;
    return (x > y) - (x < y);
}

struct run {
    key *keys;
    long count;
};

static inline struct run part(struct run run, long begin, long end)
{
    return (struct run){run.keys + begin, end - begin};
}

/* The number of keys in the sorted run that are less than `value`. */
static long count_less(struct run run, key value)
{
    long low = 0, high = run.count;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (run.keys[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge_serially(struct run x, struct run y, key *target)
{
    long i = 0, j = 0;
    while (i < x.count && j < y.count)
        *target++ = y.keys[j] < x.keys[i] ? y.keys[j++] : x.keys[i++];
    memcpy(target, x.keys + i, (size_t)(x.count - i) * sizeof *target);
    memcpy(target + (x.count - i), y.keys + j, (size_t)(y.count - j) * sizeof *target);
}

#endif
