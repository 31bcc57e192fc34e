/* A comparison of two runs in one projection: what a view of both shows.
 *
 * Its metrics are those that both databases have (metric-pairs.h): of "work" there are "work
 * [LEFT]", "work [RIGHT]", LEFT and RIGHT being the names of the sides, "work difference" and "work
 * ratio" (merged.h). Percentages of a difference are of LEFT's whole.
 *
 * Scaling: what a run with more workers loses, as in Coarfa, Mellor-Crummey, Froyd, Dotsenko:
 * "Scalability analysis of SPMD codes using expectations" (ICS 2007). With p workers and then q,
 * the same problem is expected to cost each worker p/q of what it did (strong scaling), a problem
 * that grows with the number of workers the same (weak scaling). All costs here are sums over
 * threads, p times what a worker costs on the average. A scope's cost is thus expected to be
 *
 *     strong: LEFT            weak: LEFT * q / p
 *
 * and its loss is RIGHT minus that, in percent of RIGHT's whole: of effort, where there is one, so
 * that the losses of work, overhead and idleness add up to that of effort, and all of it to one
 * minus the efficiency of RIGHT relative to LEFT. "work loss" then stands in place of the
 * difference, and the ratio is to what is expected. */
#ifndef VIEWER_COMPARISON_H
#define VIEWER_COMPARISON_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/merged.h"
#include "viewer-tui/compare/metric-pairs.h"

enum scaling { NO_SCALING, STRONG_SCALING, WEAK_SCALING };

struct comparison_options {
    char *names[SIDES]; /* of the sides; theirs who made them */
    enum scaling scaling;
    double workers[SIDES]; /* 0: as the databases say, or as many as there are threads */
};

struct comparison {
    struct compared_run sides[SIDES];
    const struct comparison_options *options;
    struct metrics metrics;     /* of both */
    struct merged_metric *from; /* of each */
    VEC(char *) texts;          /* that the metrics point to */
};

/* The options and what the sides are made of must outlive it. It may have no metric that is shown:
 * then the runs have none in common. */
struct comparison *comparison_new(const struct compared_run sides[SIDES],
                                  const struct comparison_options *options);
void comparison_free(struct comparison *comparison); /* NULL allowed */

/* A new view of both: takes over a view of each, of the same kind, which nobody else uses. The
 * caller closes it before the comparison goes. */
struct view *comparison_view(const struct comparison *comparison, struct view *const sides[SIDES]);

/* The workers of a side. */
double comparison_workers(const struct comparison *comparison, int side);

/* What a column is called, but for the metric: the name of a side, "difference", "loss", "ratio".
 */
const char *comparison_column(const struct comparison *comparison, enum merged_column column);

/* The name of a metric without that of the side, "work" of "work [LEFT]"; the caller frees. `metric`: its
 * left column. */
char *comparison_metric_name(const struct comparison *comparison, size_t metric);

/* Appends sentences that say what the difference is, which metrics are compared that have another
 * name in either run, and which ones only one side has. */
void comparison_explain(const struct comparison *comparison, struct text *out);

/* Which metrics only one side has: " Only in NAME: a, b."; the caller frees. */
char *comparison_only_in_one(const struct comparison *comparison);

#endif
