/* A comparison of two runs, or of two groups of repeated runs, in one projection, and its metrics.
 *
 * Of each metric that both databases have (metric-pairs.h), a quantity of merged_runs, there are four columns (of
 * repeated runs, of the means):
 *
 *     work [LEFT]    work [RIGHT]    work difference    work ratio
 *
 * LEFT and RIGHT are the names of the sides. Percentages of a difference refer to LEFT's whole. Of repeated runs there
 * is "work uncertainty", too: the difference is right within that, with 95 %. */
#ifndef VIEWER_COMPARISON_H
#define VIEWER_COMPARISON_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/merged.h"
#include "viewer-tui/metrics/metric.h"

struct comparison_options {
    char *names[SIDES]; /* of the sides; owned by the caller */
};

/* Compares runs[0 .. n-1] of groups 0 (left) and 1 (right), one at least of each. `options` and the databases must
 * outlive it. If the first runs have no metric in common, no metric of it is shown. The caller frees it with
 * merged_runs_free. */
struct merged_runs *comparison_new(const struct merged_run *runs, size_t n, const struct comparison_options *options);

/* The initial sorting: by what got worse; of losses, by the first metric. */
struct sorting comparison_sorting(const struct merged_runs *merged, enum cost_part part);

/* The comparison that a view shows; NULL: one run, or losses. */
static inline const struct merged_runs *comparison_of(const struct view *view)
{
    const struct merged_runs *merged = merged_runs_of(view);
    return merged && merged->comparing ? merged : NULL;
}

/* The name of a side. */
static inline const char *comparison_name(const struct merged_runs *merged, int side)
{
    return merged->comparing->names[side];
}

/* Whether a side has the scope of a row. */
bool comparison_has(const struct view *view, uint32_t row, int side);

/* The number of workers of a side; if it is not known, of threads. */
double comparison_workers(const struct merged_runs *merged, int side);

/* The heading of a column: the name of a side, "difference" or "ratio". */
const char *comparison_column(const struct merged_runs *merged, enum merged_column column);

/* The name of a metric without that of the column, "work" of "work [LEFT]"; the caller frees. */
char *comparison_metric_name(const struct metric *metric);

/* Adds sentences that say what the difference is, which metrics have different names in the two
 * runs, and which metrics only one side has. */
void comparison_explain(const struct merged_runs *merged, struct text *out);

/* Adds the shown metrics that only one side has, " Only in NAME: a, b.". */
void comparison_only_in_one(const struct merged_runs *merged, struct text *out);

/* Short names that tell two paths apart: "p4" and "p8" of "runs/p4/database" and
 * "runs/p8/database"; "database" and "database-2" of themselves; "A" and "B" if the paths are
 * equal. The caller frees. */
void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES]);

/* The same for lists of repeated runs, "p4-1,p4-2,p4-3": of the first of each, without the number at its end; "base"
 * and "new" if that tells nothing apart. The caller frees. */
void comparison_names_of_lists(const char *const lists[SIDES], char *names[SIDES]);

/* Splits "LEFT,RIGHT"; false unless these are two different names. The caller frees them. */
bool comparison_names_in(const char *list, char *names[SIDES]);

#endif
