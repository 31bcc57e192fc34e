/* Which metrics of two runs are the same: those with the same event, unit and name.
 *
 * * "work" of a run with one time event is "work (EVENT)" of a run with several.
 * * The event is that of run.json, or else the text in parentheses after the name.
 * * If one side does not name the event, the full names must be equal, or each side have one
 * candidate.
 * * An effort that one side lacks, since it measured neither idleness nor overhead, is the work of
 * its event. */
#ifndef VIEWER_METRIC_PAIRS_H
#define VIEWER_METRIC_PAIRS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/merged-runs.h"

/* Indices of stored metrics. */
struct metric_pair {
    size_t sides[SIDES];
};

typedef VEC(struct metric_pair) metric_pair_list;

/* Of the first runs of groups 0 (left) and 1. In order of the left side, then the additions of the right one. A
 * metric may be in several pairs: work that is an effort, too. The caller frees with vec_free. */
metric_pair_list metric_pairs_of(const struct merged_runs *merged);

/* The period of the samples of a metric; 0 if unknown, or it has none. */
double metric_period(const struct metric *metric, const json_t *run);

/* Adds " (of EVENT)" to the name of a side's metric, if the other side has that name for another
 * event. */
void metric_add_event(const struct merged_runs *merged, int side, size_t metric, struct text *out);

#endif
