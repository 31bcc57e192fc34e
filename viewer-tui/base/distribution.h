/* The distribution of values, for example of a scope's cost over the threads. */
#ifndef VIEWER_DISTRIBUTION_H
#define VIEWER_DISTRIBUTION_H

#include <stddef.h>

struct distribution {
    double sum, min, mean, median, max;
    double stddev;    /* of these values, not an estimate from a sample */
    double imbalance; /* max / mean; 0 if the mean is 0 */
};

/* Values that are NAN do not count. All fields are 0 if there are no others. */
struct distribution distribution_of(const double *values, size_t n);

/* The median, and an interval between two of the values that contains the median of the population
 * with a probability of at least `coverage`, whatever its distribution. It is the narrowest
 * symmetric one with 95 %; of less than 6 values there is none, so it is all from the least to the
 * largest: 93.75 % for 5 of them. */
struct median_interval {
    double median, low, high, coverage;
};

/* All fields are NAN if n is 0. */
struct median_interval median_interval_of(const double *values, size_t n);

#endif
