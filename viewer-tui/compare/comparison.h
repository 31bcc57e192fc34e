/* A comparison of two runs: what a session of two databases shows.
 *
 * Its metrics are those that both databases have, by name: of "work" there are "work [LEFT]",
 * "work [RIGHT]", LEFT and RIGHT being the names of the sides, "work difference" and "work ratio"
 * (merged.h). Percentages of a difference are of LEFT's whole. A metric of effort that one side
 * lacks, having measured neither idleness nor overhead, is its work there.
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
#include "viewer-tui/session.h"

/* The metrics of both sides in one projection. */
struct compared_metrics {
    struct metrics metrics;     /* none until they are asked for */
    struct merged_metric *from; /* of each */
    VEC(char *) texts;          /* that the metrics point to */
};

enum scaling { NO_SCALING, STRONG_SCALING, WEAK_SCALING };

struct comparison_options {
    char *names[SIDES]; /* of the sides; theirs who made them */
    enum scaling scaling;
    double workers[SIDES]; /* 0: as the databases say, or as many as there are threads */
};

struct comparison {
    struct session *sides[SIDES];
    struct comparison_options options;
    char *title;
    struct compared_metrics metrics[PROJECTIONS];
};

/* Takes over the two sessions; the names must outlive it. */
struct comparison *comparison_new(struct session *left, struct session *right,
                                  const struct comparison_options *options);
void comparison_free(struct comparison *comparison); /* NULL allowed */

/* A new view of both; the caller closes it before the comparison goes. NULL, with the problem
 * noted, when a side cannot be read or they have no metric in common, or when the user stopped it.
 */
struct view *comparison_view(struct comparison *comparison, enum projection projection,
                             enum view_id id);

/* Says which metrics are shown, as session_show. */
void comparison_show(struct comparison *comparison, enum metric_set set);

/* The workers of a side, whose databases are open. */
double comparison_workers(const struct comparison *comparison, int side);

/* What a column is called, but for the metric: the name of a side, "difference", "loss", "ratio".
 */
const char *comparison_column(const struct comparison *comparison, enum merged_column column);

/* What is compared, for titles; valid until the next call. */
const char *comparison_title(struct comparison *comparison);

/* Appends a sentence that says what the difference is, and which metrics only one side has. The
 * databases are open. */
void comparison_explain(const struct comparison *comparison, struct text *out);

#endif
