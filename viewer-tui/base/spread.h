/* How values are spread: what is said of a scope's costs in all threads. */
#ifndef VIEWER_SPREAD_H
#define VIEWER_SPREAD_H

#include <stddef.h>

struct spread {
    double sum, least, mean, median, largest;
    double deviation; /* standard deviation of these values, not an estimate from a sample */
    double imbalance; /* largest / mean; 0 where the mean is 0 */
};

/* All 0 of no values. */
struct spread spread_of(const double *values, size_t n);

/* The bin of a value of those that are spread so, of `n_bins` of equal width from the least to the
 * largest. A value between two bins is in the upper one, the largest in the last. */
size_t spread_bin(const struct spread *spread, double value, size_t n_bins);

/* Where a bin begins; bin n_bins begins at the largest value. */
double spread_bin_start(const struct spread *spread, size_t bin, size_t n_bins);

/* How many bins show n values well: few for few values, at most `most`, at least 1. */
size_t spread_bins(size_t n, size_t most);

#endif
