/* One tree of the views of several runs (merged-runs.h).
 *
 * A row stands for a scope of some of the runs (match.h), and has the name and place of one of these. Rows are made on
 * demand, with those of the runs' views. */
#ifndef VIEWER_MERGED_H
#define VIEWER_MERGED_H

#include "viewer-tui/compare/merged-runs.h"
#include "viewer-tui/tree/view.h"

/* Merges a view of each run, all of one kind. Takes ownership of them and of their array: nobody else may expand or
 * sort them. `merged` must outlive the result. */
struct view *merged_open(const struct merged_runs *merged, struct view **views, struct sorting sorting);

/* What a view is a merger of; NULL for a view of one run. */
const struct merged_runs *merged_runs_of(const struct view *view);

/* The view of a run, for walks that leave it unchanged. */
struct view *merged_view_of(const struct view *view, size_t run);

/* The rows of the runs for which a row stands, by run: NOTHING for those without the scope. NULL for a view of one
 * run. Valid until the next row is made. */
const uint32_t *merged_rows(const struct view *view, uint32_t row);

/* What a row costs in each run: a quantity of merged_runs. The caller frees. */
double *merged_costs(const struct view *view, uint32_t row, size_t quantity, enum cost_part part);

#endif
