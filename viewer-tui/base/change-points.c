#include "viewer-tui/base/change-points.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A series at one width of bins. */
struct series {
    size_t n, d, least; /* bins, kinds, bins of a stretch at least */
    size_t n_seen;      /* kinds with counts: the others have no noise */
    double *counts;
    double *sums;    /* of values with variance 1, over the first i bins, by kind: sums[i * d + k] */
    double *squares; /* the same of their squares, over all kinds */
};

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Noise is measured where most absolute differences are smaller. The median alone would not see a program that
 * alternates now and then; the mean would see the cuts. Each of MOST_CUTS changes two differences. */
#define QUANTILE  0.8
#define MOST_CUTS 4

/* Largest blocks of neighbors whose differences say how large the noise is, and how many there must be: some
 * differences are without cuts. */
#define LARGEST_BLOCK 16
#define LEAST_BLOCKS  11

/* What is larger than this share of the absolute differences of two normal numbers with deviation 1. */
static double normal_difference(double share)
{
    double low = 0, high = 8;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        *(erf(middle / 2) < share ? &low : &high) = middle;
    }
    return high;
}

/* The deviation that the differences of n blocks show. */
static double deviation_of_blocks(const double *values, size_t n, size_t d, size_t block, double *differences)
{
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < block; j++)
            sum += values[(i * block + j) * d];
        if (i > 0)
            differences[i - 1] = fabs(sum - before);
        before = sum;
    }
    double share = fmin(QUANTILE, 1 - 2.0 * MOST_CUTS / (double)(n - 1));
    qsort(differences, n - 1, sizeof *differences, ascending);
    return differences[(size_t)(share * (double)(n - 1))] / (normal_difference(share) * sqrt((double)block));
}

/* The deviation of one value of a kind: 1, as of independent counts, or more. values[0], values[d], ... */
static double deviation(const double *values, size_t n, size_t d)
{
    double most = 1, *differences = mem_alloc(n * sizeof *differences);
    for (size_t block = 1; block <= LARGEST_BLOCK && n / block >= LEAST_BLOCKS; block *= 2)
        most = fmax(most, deviation_of_blocks(values, n / block, d, block, differences));
    free(differences);
    return most;
}

static struct series series_of(double *counts, size_t n, size_t d)
{
    struct series series = {.n = n, .d = d, .counts = counts};
    autofree double *values = mem_alloc((n * d + 1) * sizeof *values);
    series.sums = mem_alloc(((n + 1) * d + 1) * sizeof *series.sums);
    series.squares = mem_alloc((n + 1) * sizeof *series.squares);
    series.least = (size_t)fmax(ceil(LEAST_PHASE * (double)n), 2);
    for (size_t i = 0; i < n * d; i++)
        values[i] = 2 * sqrt(counts[i] + 0.375);
    for (size_t k = 0; k < d; k++) {
        double scale = 1 / deviation(values + k, n, d);
        bool is_seen = false;
        for (size_t i = 0; i < n; i++) {
            double value = values[i * d + k] * scale;
            is_seen |= counts[i * d + k] > 0;
            series.sums[(i + 1) * d + k] = series.sums[i * d + k] + value;
            series.squares[i + 1] += value * value;
        }
        series.n_seen += is_seen;
    }
    for (size_t i = 0; i < n; i++)
        series.squares[i + 1] += series.squares[i];
    return series;
}

static void series_free(struct series *series)
{
    free(series->counts);
    free(series->sums);
    free(series->squares);
}

/* The sum of the squares of what bins from .. to-1 differ from their mean. */
static double cost(const struct series *series, size_t from, size_t to)
{
    double explained = 0;
    const double *a = series->sums + from * series->d, *b = series->sums + to * series->d;
    for (size_t k = 0; k < series->d; k++)
        explained += (b[k] - a[k]) * (b[k] - a[k]);
    return series->squares[to] - series->squares[from] - explained / (double)(to - from);
}

/* The ends of the best stretches, in *ends, which the caller frees; their number. */
static size_t partition(const struct series *series, size_t **ends)
{
    size_t n = series->n, n_ends = 0, *begin = mem_alloc((n + 1) * sizeof *begin);
    autofree double *best = mem_alloc((n + 1) * sizeof *best);
    double d = (double)series->n_seen, x = log((double)n / FALSE_CUT), of_each = d + 2 * sqrt(d * x) + 2 * x;
    for (size_t to = 1; to <= n; to++) {
        best[to] = INFINITY;
        for (size_t from = 0; from + series->least <= to; from++) {
            double whole = best[from] + cost(series, from, to) + of_each;
            if (whole < best[to]) {
                best[to] = whole;
                begin[to] = from;
            }
        }
    }
    for (size_t at = n; at > 0; at = begin[at])
        n_ends++;
    *ends = mem_alloc((n_ends + 1) * sizeof **ends);
    for (size_t at = n, i = n_ends; at > 0; at = begin[at])
        (*ends)[--i] = at;
    free(begin);
    return n_ends;
}

/* The series with bins joined in pairs. */
static struct series joined(const struct series *series)
{
    size_t d = series->d, n = series->n / 2;
    double *counts = mem_alloc((n * d + 1) * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            counts[i * d + k] = series->counts[2 * i * d + k] + series->counts[(2 * i + 1) * d + k];
    return series_of(counts, n, d);
}

/* Moves each cut by less than `width` bins to where the stretches on both sides fit best. */
static void refine(const struct series *series, size_t width, size_t *ends, size_t n)
{
    for (size_t i = 0; width > 1 && i + 1 < n; i++) {
        size_t from = i ? ends[i - 1] : 0, to = ends[i + 1], best = ends[i];
        for (size_t at = ends[i] - width + 1; at < ends[i] + width; at++)
            if (at > from && at < to && cost(series, from, at) + cost(series, at, to) <
                                            cost(series, from, best) + cost(series, best, to))
                best = at;
        ends[i] = best;
    }
}

size_t change_points(const double *counts, size_t n, size_t d, size_t ends[MOST_PHASES])
{
    double *copy = mem_alloc((n * d + 1) * sizeof *copy);
    memcpy(copy, counts, n * d * sizeof *copy);
    struct series finest = series_of(copy, n, d), series = finest;
    size_t width = 1, n_found = 1, *found = NULL;
    while (series.n >= LEAST_BINS && (n_found = partition(&series, &found)) > MOST_PHASES) {
        struct series wider = joined(&series);
        if (width > 1)
            series_free(&series);
        series = wider;
        width *= 2;
        free(found);
        found = NULL;
    }
    n_found = found ? n_found : 1;
    for (size_t i = 0; i + 1 < n_found; i++)
        ends[i] = found[i] * width;
    ends[n_found - 1] = n;
    refine(&finest, width, ends, n_found);
    if (width > 1)
        series_free(&series);
    series_free(&finest);
    free(found);
    return n_found;
}
