#include "viewer-tui/compare/merged-runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct merged_runs *merged_runs_new(const struct merged_run *runs, size_t n)
{
    struct merged_runs *merged = mem_alloc(sizeof *merged);
    for (size_t i = 0; i < n; i++) {
        assert(i == 0 || runs[i].group == runs[i - 1].group || runs[i].group == merged->n_groups);
        vec_push(&merged->runs, runs[i]);
        merged->n_groups = runs[i].group + 1;
    }
    return merged;
}

void merged_runs_free(struct merged_runs *merged)
{
    if (!merged)
        return;
    for (size_t i = 0; i < merged->texts.n; i++)
        free(merged->texts.at[i]);
    vec_free(&merged->texts);
    metrics_free(&merged->metrics);
    vec_free(&merged->formulas);
    vec_free(&merged->sources);
    vec_free(&merged->periods);
    vec_free(&merged->runs);
    free(merged);
}

const char *merged_keep(struct merged_runs *merged, char *text)
{
    vec_push(&merged->texts, text);
    return text;
}

size_t merged_add(struct merged_runs *merged, struct metric metric, struct merged_formula formula)
{
    struct metrics *metrics = &merged->metrics;
    assert(metrics->n == metrics->n_stored);
    metrics->at = mem_resize(metrics->at, metrics->n + 1, sizeof *metrics->at);
    metrics->at[metrics->n] = metric;
    vec_push(&merged->formulas, formula);
    metrics->n_stored = ++metrics->n;
    return metrics->n - 1;
}

size_t merged_group_first(const struct merged_runs *merged, size_t group)
{
    size_t run = 0;
    while (run < merged->runs.n && merged->runs.at[run].group != group)
        run++;
    return run;
}

size_t merged_group_size(const struct merged_runs *merged, size_t group)
{
    size_t first = merged_group_first(merged, group), end = first;
    while (end < merged->runs.n && merged->runs.at[end].group == group)
        end++;
    return end - first;
}

double merged_mean(const struct merged_runs *merged, size_t group, const double *values)
{
    double sum = 0;
    size_t n = 0;
    for (size_t run = 0; run < merged->runs.n; run++)
        if (merged->runs.at[run].group == group) {
            sum += values[run];
            n++;
        }
    return sum / (double)n;
}

/* ---- uncertainty ---- */

/* Student's t distribution: how many standard deviations an interval reaches to either side, by degrees of freedom
 * from 1 on. Of the interval of 95 % rounded up to 2. */
static double t_quantile(enum confidence confidence, double freedom)
{
    static const double of[CONFIDENCES][15] = {
        [CONFIDENCE_95] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
                           2.145, 2.131},
        [CONFIDENCE_99_9] = {636.619, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318,
                             4.221, 4.140, 4.073}};
    if (freedom < 16)
        return of[confidence][freedom < 1 ? 0 : (size_t)freedom - 1];
    /* From 16 degrees on these are too large by less than 0.04. */
    return confidence == CONFIDENCE_95 ? fmax(1.96 + 2.56 / freedom, 2) : 3.291 + 11.8 / freedom;
}

/* The variance of the mean of n values */
static double variance_of_mean(const double *values, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return n > 1 ? squares / (double)(n - 1) / (double)n : 0;
}

/* The variance of the difference of the means of two groups of values, and its degrees of freedom: of as many values
 * the i-th ones are a pair, else by Welch. */
static double variance_of_difference(const double *left, size_t n_left, const double *right, size_t n_right,
                                     double factor, double *freedom)
{
    *freedom = INFINITY;
    if (n_left == n_right) {
        autofree double *differences = mem_alloc(n_left * sizeof *differences);
        for (size_t i = 0; i < n_left; i++)
            differences[i] = right[i] - factor * left[i];
        double variance = variance_of_mean(differences, n_left);
        *freedom = n_left > 1 ? (double)(n_left - 1) : INFINITY;
        return variance;
    }
    double a = factor * factor * variance_of_mean(left, n_left), b = variance_of_mean(right, n_right);
    double welch = (n_left > 1 ? a * a / (double)(n_left - 1) : 0) + (n_right > 1 ? b * b / (double)(n_right - 1) : 0);
    if (welch > 0)
        *freedom = (a + b) * (a + b) / welch;
    return a + b;
}

/* With so many runs of each side, their differences show the noise of sampling. It is less than that of independent
 * samples, since samples come at nearly equal distances: a procedure of 91 ms (5 ms a sample) varied by 3.8 ms from run
 * to run, not by 21. Simulated with procedures of 0.3 to 50 samples, in one piece, in many, and at random (28 November
 * 2026): with 4 to 24 runs, a program exceeds its own costs, with 99.9 %, in 1 of 2000 comparisons, as it should; with 3
 * runs in up to 1 of 1100, with 2 in up to 1 of 200. */
enum { RUNS_THAT_SHOW_NOISE = 4 };

double merged_uncertainty(const struct merged_runs *merged, const double *values, double factor, const double *periods,
                          enum confidence confidence)
{
    size_t n[2] = {merged_group_size(merged, 0), merged_group_size(merged, 1)};
    bool is_known_from_runs = n[0] >= RUNS_THAT_SHOW_NOISE && n[1] >= RUNS_THAT_SHOW_NOISE;
    double freedom, sampling = 0, factors[2] = {factor, 1};
    for (size_t group = 0; group < 2; group++) {
        double period = periods ? periods[group] : 0, cost = fabs(merged_mean(merged, group, values));
        double noise = period * (is_known_from_runs ? fmin(cost, period) : cost);
        sampling += factors[group] * factors[group] * noise / (double)n[group];
    }
    double variance = variance_of_difference(values, n[0], values + n[0], n[1], factor, &freedom);
    return fmax(t_quantile(confidence, freedom) * sqrt(variance), t_quantile(confidence, INFINITY) * sqrt(sampling));
}
