#include "viewer-tui/compare/merged-runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void merged_runs_init(struct merged_runs *merged, const struct merged_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert(i == 0 || runs[i].group == runs[i - 1].group || runs[i].group == merged->n_groups);
        vec_push(&merged->runs, runs[i]);
        merged->n_groups = runs[i].group + 1;
    }
}

void merged_runs_free(struct merged_runs *merged)
{
    for (size_t i = 0; i < merged->texts.n; i++)
        free(merged->texts.at[i]);
    vec_free(&merged->texts);
    metrics_free(&merged->metrics);
    vec_free(&merged->formulas);
    vec_free(&merged->sources);
    vec_free(&merged->runs);
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
    return confidence == CONFIDENCE_95 ? fmax(1.96 + 2.54 / freedom, 2) : 3.291 + 11.8 / freedom;
}

/* The variance of the mean of a group, and its degrees of freedom. */
static double variance_of_mean(const struct merged_runs *merged, size_t group, const double *values, double period,
                               double *freedom)
{
    double mean = merged_mean(merged, group, values), squares = 0, n = (double)merged_group_size(merged, group);
    for (size_t run = 0; run < merged->runs.n; run++)
        if (merged->runs.at[run].group == group)
            squares += (values[run] - mean) * (values[run] - mean);
    *freedom = n > 1 ? n - 1 : INFINITY;
    return fmax(period * fabs(mean) / n, n > 1 ? squares / (n - 1) / n : 0);
}

double merged_uncertainty(const struct merged_runs *merged, const double *values, double factor, const double *periods,
                          enum confidence confidence)
{
    double of[2], freedom[2];
    for (size_t group = 0; group < 2; group++)
        of[group] = variance_of_mean(merged, group, values, periods ? periods[group] : 0, &freedom[group]);
    of[0] *= factor * factor;
    double variance = of[0] + of[1], welch = of[0] * of[0] / freedom[0] + of[1] * of[1] / freedom[1];
    if (!(variance > 0))
        return 0;
    return t_quantile(confidence, welch > 0 ? variance * variance / welch : INFINITY) * sqrt(variance);
}
