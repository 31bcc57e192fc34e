#include "viewer-tui/base/spread.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct spread spread_of(const double *values, size_t n)
{
    struct spread spread = {0};
    if (n == 0)
        return spread;
    double *sorted = mem_alloc(n * sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    spread.least = sorted[0];
    spread.largest = sorted[n - 1];
    spread.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    free(sorted);
    for (size_t i = 0; i < n; i++)
        spread.sum += values[i];
    spread.mean = spread.sum / (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - spread.mean) * (values[i] - spread.mean);
    spread.deviation = sqrt(squares / (double)n);
    spread.imbalance = spread.mean != 0 ? spread.largest / spread.mean : 0;
    return spread;
}

size_t spread_bin(const struct spread *spread, double value, size_t n_bins)
{
    double range = spread->largest - spread->least;
    double share = range > 0 ? (value - spread->least) / range : 0;
    size_t bin = (size_t)(share * (double)n_bins);
    return bin < n_bins ? bin : n_bins - 1;
}

double spread_bin_start(const struct spread *spread, size_t bin, size_t n_bins)
{
    double step = (spread->largest - spread->least) / (double)n_bins;
    return bin < n_bins ? spread->least + step * (double)bin : spread->largest;
}

/* Twice the cube root, the rule of Rice. */
size_t spread_bins(size_t n, size_t most)
{
    size_t bins = (size_t)ceil(2 * cbrt((double)n));
    bins = bins < most ? bins : most;
    return bins > 0 ? bins : 1;
}
