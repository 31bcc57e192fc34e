/* Which metrics are shown, and how what the user says about them is understood. */
#ifndef VIEWER_METRIC_SELECTION_H
#define VIEWER_METRIC_SELECTION_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

/* Adds to the database's metrics what run.json (NULL: there is none) says of metrics that were not
 * measured, units, efforts, and finds kinds of overhead. */
void choose_complete(struct database *db, const json_t *run);

/* Reduces the database's metrics to those shown, after choose_complete. With `list`, names
 * separated by commas, these; otherwise all that run.json names and the database has, without a
 * run.json (NULL) those that are not zero in the whole program, the first MOST_BY_DEFAULT, with
 * incomplete time set aside (metric.h). Metrics
 * that run.json says were not measured are there too. Where a metric of overhead is shown its kinds
 * are kept, for SET_KINDS; and kept is what formulas of derived metrics name. NULL, or the first
 * name in the list that is no metric; the caller frees it. `run` must outlive the database.
 * "work" in the list stands for "work (EVENT)" of all events, where there is no metric of that
 * name.
 *
 * `leniently`: names in the list that are no metrics are passed over, and without others it is as
 * if there were no list. */
#define MOST_BY_DEFAULT 64
char *choose_metrics(struct database *db, const json_t *run, const char *list, bool leniently);

/* Understands "METRIC", "METRIC:inclusive" and "METRIC:exclusive", in a comparison METRIC also for
 * "METRIC difference" or "METRIC loss", and METRIC for the only "METRIC (EVENT)"; the part stays as
 * it is in *sorting when it is not named. False when there is no such metric. */
bool choose_sorting(const struct metrics *metrics, const char *text, struct sorting *sorting);

/* The names of all metrics, separated by commas. The caller frees. */
char *choose_names(const struct metrics *metrics);

#endif
