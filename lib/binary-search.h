/* Binary search, and the order that it needs. Header only, without calls: safe in signal handlers. */
#ifndef LIB_BINARY_SEARCH_H
#define LIB_BINARY_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The first index i of 0 .. count - 1 for which `condition`, an expression in i, is false; `count`
 * if there is none. The condition must be true up to that index and false from there on, as in a
 * sorted array:
 *
 *     partition_point(i, v.n, v.at[i] < key)     the first element that is not below key
 *     partition_point(i, v.n, v.at[i] <= key)    the first element above key */
#define partition_point(i, count, condition)                                                       \
    __extension__({                                                                                \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            size_t i = low_ + (high_ - low_) / 2;                                                  \
            if (condition)                                                                         \
                low_ = i + 1;                                                                      \
            else                                                                                   \
                high_ = i;                                                                         \
        }                                                                                          \
        low_;                                                                                      \
    })

/* For comparison functions: negative, 0 or positive. */
static inline int compare_unsigned(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

#endif
