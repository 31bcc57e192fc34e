/* Runs that are merged, and the metrics that this gives: a comparison of two runs or of two groups of runs, or the
 * losses of a set.
 *
 * A metric is a formula: a sum of terms, each a factor times the mean cost of a quantity in the runs of a group. A run
 * without a scope, or without the quantity, has the cost 0. */
#ifndef VIEWER_MERGED_RUNS_H
#define VIEWER_MERGED_RUNS_H

#include "viewer-tui/db/database.h"

#define MERGED_TERMS 4

enum formula_operation {
    FORMULA_SUM,
    FORMULA_QUOTIENT,   /* the first term divided by the second; NAN if that is 0 */
    FORMULA_UNCERTAINTY /* half of the interval that has the sum with 95 %, by what the runs of each group differ */
};

struct merged_formula {
    enum formula_operation operation;
    size_t n_terms;
    struct merged_term {
        size_t group, quantity;
        double factor;
    } terms[MERGED_TERMS];
};

/* A run that is merged. Runs of one group stand together. */
struct merged_run {
    const struct database *db;
    const json_t *run; /* NULL: none */
    size_t group;
    unsigned workers; /* of a run of a set; else 0 */
};

struct comparison_options;

/* Which runs are merged, and into which metrics. */
struct merged_runs {
    VEC(struct merged_run) runs;
    size_t n_groups;
    const struct comparison_options *comparing; /* of two groups (comparison.h); NULL: losses (losses.h) */
    size_t first_shown; /* a row has the name of the first run that has it, from this one on and then from run 0 */
    const char *title;  /* of views; NULL: their own */
    VEC(size_t) sources; /* by quantity, then run: the index of the metric; SIZE_MAX: there is none */
    VEC(double) periods; /* of samples, by quantity, then group; 0: unknown. Empty without FORMULA_UNCERTAINTY */
    struct metrics metrics;
    VEC(struct merged_formula) formulas; /* by stored metric */
    VEC(char *) texts;                 /* owned; names and reasons of the metrics */
};

/* One with the runs, whose databases must outlive it, and without metrics. The caller frees it with
 * merged_runs_free. */
struct merged_runs *merged_runs_new(const struct merged_run *runs, size_t n);
void merged_runs_free(struct merged_runs *merged); /* NULL allowed */

/* Takes ownership of a text to which metrics point. */
const char *merged_keep(struct merged_runs *merged, char *text);

/* Appends a metric and its formula; returns its index. */
size_t merged_add(struct merged_runs *merged, struct metric metric, struct merged_formula formula);

/* Number of runs in a group, and the first of them. */
size_t merged_group_size(const struct merged_runs *merged, size_t group);
size_t merged_group_first(const struct merged_runs *merged, size_t group);

static inline const struct merged_run *merged_first_run(const struct merged_runs *merged, size_t group)
{
    return &merged->runs.at[merged_group_first(merged, group)];
}

/* Whether the groups are of more than one run. */
static inline bool merged_is_of_repeats(const struct merged_runs *merged)
{
    return merged->runs.n > merged->n_groups;
}

/* The metric of a run that is the quantity; SIZE_MAX: the run has none. */
static inline size_t merged_source(const struct merged_runs *merged, size_t quantity, size_t run)
{
    return merged->sources.at[quantity * merged->runs.n + run];
}

/* The periods of a quantity's samples, by group. */
static inline const double *merged_periods(const struct merged_runs *merged, size_t quantity)
{
    return merged->periods.at + quantity * merged->n_groups;
}

/* The mean over the runs of a group; `values`: by run. */
double merged_mean(const struct merged_runs *merged, size_t group, const double *values);

enum confidence { CONFIDENCE_95, CONFIDENCE_99_9, CONFIDENCES };

/* Half of the interval that has the difference of the means of group 1 and of factor * group 0, by Student's t. Of as
 * many runs in both groups the i-th ones are a pair: run in turns, they have what else happens on the machine in
 * common. Else by Welch. `values`: by run. `periods`: of the samples, by group; NULL: they are no samples.
 *
 * Costs are multiples of a period, so runs may happen not to differ. With up to three runs of a side, the interval is
 * thus at least that of as many independent samples, whose cost varies by sqrt(period * cost); with one run it is that.
 * With more runs it is at least that of one sample in each run. */
double merged_uncertainty(const struct merged_runs *merged, const double *values, double factor, const double *periods,
                          enum confidence confidence);

#endif
