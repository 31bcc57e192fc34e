#include "viewer-tui/base/distribution.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the interval of a median, if there are enough values. */
#define COVERAGE 0.95

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct distribution distribution_of(const double *values, size_t n)
{
    struct distribution distribution = {0};
    autofree VEC(double) defined = {0};
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            vec_push(&defined, values[i]);
    n = defined.n;
    if (n == 0)
        return distribution;
    for (size_t i = 0; i < n; i++)
        distribution.sum += defined.at[i];
    distribution.mean = distribution.sum / (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (defined.at[i] - distribution.mean) * (defined.at[i] - distribution.mean);
    vec_sort(&defined, compare);
    distribution.min = defined.at[0];
    distribution.max = defined.at[n - 1];
    distribution.median = (defined.at[(n - 1) / 2] + defined.at[n / 2]) / 2;
    distribution.stddev = sqrt(squares / (double)n);
    distribution.imbalance = distribution.mean != 0 ? distribution.max / distribution.mean : 0;
    return distribution;
}

/* The probability that at most `k` of n values are below the median of the population. */
static double tail_below(size_t k, size_t n)
{
    double sum = 0, all = (double)n;
    for (size_t i = 0; i <= k; i++)
        sum += exp(lgamma(all + 1) - lgamma((double)i + 1) - lgamma(all - (double)i + 1) -
                   all * log(2));
    return sum;
}

struct median_interval median_interval_of(const double *values, size_t n)
{
    if (n == 0)
        return (struct median_interval){NAN, NAN, NAN, NAN};
    autofree double *sorted = mem_alloc(n * sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    size_t left_out = 0; /* values below the interval, and as many above */
    while (left_out + 1 < (n + 1) / 2 && 1 - 2 * tail_below(left_out + 1, n) >= COVERAGE)
        left_out++;
    struct median_interval interval = {(sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[left_out],
                                       sorted[n - 1 - left_out], 1 - 2 * tail_below(left_out, n)};
    return interval;
}
