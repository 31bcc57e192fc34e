/* A comparison of two runs in one projection, and its metrics.
 *
 * Of each metric that both databases have (metric-pairs.h) there are four columns (merged.h):
 *
 *     work [LEFT]    work [RIGHT]    work difference    work ratio
 *
 * LEFT and RIGHT are the names of the sides. Percentages of a difference refer to LEFT's whole.
 *
 * Scaling shows what a run with more workers loses, as in Coarfa, Mellor-Crummey, Froyd, Dotsenko:
 * "Scalability analysis of SPMD codes using expectations" (ICS 2007). With p and then q workers,
 * the same problem is expected to cost each worker p/q of what it did (strong scaling); a problem
 * that grows with the number of workers, the same as before (weak scaling). Costs here are sums
 * over threads, p times the mean of a worker. So a scope is expected to cost
 *
 *     strong: LEFT            weak: LEFT * q / p
 *
 * and its loss is RIGHT minus that, in percent of RIGHT's whole, or of its effort where effort is
 * known. Then the losses of work, overhead and idleness add up to that of effort, and all of it to
 * one minus the efficiency of RIGHT relative to LEFT. "work loss" takes the place of the
 * difference, and the ratio is to the expected cost. */
#ifndef VIEWER_COMPARISON_H
#define VIEWER_COMPARISON_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/merged.h"
#include "viewer-tui/compare/metric-pairs.h"

enum scaling { NO_SCALING, STRONG_SCALING, WEAK_SCALING };

struct comparison_options {
    char *names[SIDES]; /* of the sides; owned by the caller */
    enum scaling scaling;
    double workers[SIDES]; /* 0: the number in the database, or else the number of threads */
};

struct comparison {
    struct compared_run sides[SIDES];
    const struct comparison_options *options;
    struct metrics metrics;     /* of both */
    struct merged_metric *from; /* by metric: its column and origin */
    VEC(char *) texts;          /* owned; names and reasons of the metrics */
};

/* `options` and the sides' databases must outlive it. If the runs have no metric in common, no
 * metric of it is shown. */
struct comparison *comparison_new(const struct compared_run sides[SIDES],
                                  const struct comparison_options *options);
void comparison_free(struct comparison *comparison); /* NULL allowed */

/* Merges a view of each side, of the same kind, of which it takes ownership. The caller closes the
 * result before the comparison is freed. */
struct view *comparison_view(const struct comparison *comparison, struct view *const sides[SIDES]);

/* The number of workers of a side. */
double comparison_workers(const struct comparison *comparison, int side);

/* The heading of a column: the name of a side, "difference", "loss" or "ratio". */
const char *comparison_column(const struct comparison *comparison, enum merged_column column);

/* The name of a metric without that of the side, "work" of "work [LEFT]"; the caller frees.
 * `metric`: its left column. */
char *comparison_metric_name(const struct comparison *comparison, size_t metric);

/* Adds sentences that say what the difference is, which metrics have different names in the two
 * runs, and which metrics only one side has. */
void comparison_explain(const struct comparison *comparison, struct text *out);

/* The metrics that only one side has, " Only in NAME: a, b."; the caller frees. */
char *comparison_only_in_one(const struct comparison *comparison);

#endif
