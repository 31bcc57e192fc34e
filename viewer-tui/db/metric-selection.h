/* Selects the metrics that are shown, and reads what users write about them. */
#ifndef VIEWER_METRIC_SELECTION_H
#define VIEWER_METRIC_SELECTION_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

/* Gives the database's metrics the names of today, and adds to them: those that run.json says were
 * not measured, units and states from run.json, efforts, and which metrics are internal or kinds of
 * overhead. `run` may be NULL. */
void choose_complete(struct database *db, const json_t *run);

/* Limit of the metrics selected without a list; the same limit applies to kinds of overhead. */
#define MOST_BY_DEFAULT 64

/* Reduces the database's metrics, after choose_complete, to those that are shown:
 *
 *   list                 names, separated by commas; "work" also stands for all "work (EVENT)", and
 *                        "work:inclusive" for the inclusive costs only
 *   no list, run.json    all metrics of run.json, then the others of the database
 *   neither              metrics whose total is not zero
 *
 * Internal metrics are kept, but not shown. Kinds are kept with their overhead, for SET_KINDS; metrics
 * that formulas of derived metrics name are kept, too.
 *
 * Returns NULL, or the first name in the list that is no metric; the caller frees it. `leniently`:
 * such names are ignored, and a list without any metric counts as none. `run` must outlive the
 * database. */
char *choose_metrics(struct database *db, const json_t *run, const char *list, bool leniently);

/* ":inclusive", ":exclusive", by cost_part. */
extern const char *const choose_part_endings[EXCLUSIVE + 1];

/* Reads "METRIC", "METRIC:inclusive" or "METRIC:exclusive". METRIC may also stand for the only
 * "METRIC (EVENT)" and, in a comparison, for "METRIC difference" or "METRIC loss". Without a part,
 * sorting->part stays. False if there is no such metric. */
bool choose_sorting(const struct metrics *metrics, const char *text, struct sorting *sorting);

/* The names of all metrics, separated by commas. The caller frees. */
char *choose_names(const struct metrics *metrics);

#endif
