/* Metrics and their values, and places, in JSON: the same in every view. */
#ifndef VIEWER_METRIC_JSON_H
#define VIEWER_METRIC_JSON_H

#include "lib/json.h"
#include "viewer-tui/tree/view.h"

/* A value of the metric, null when it was not measured or is not defined. */
void json_write_cost(struct json_writer *json, const struct metric *metric, double value);

/* A member with the value in percent of the whole program's effort; null when that is nothing. */
void json_write_percent(struct json_writer *json, const char *key, double value, double effort);

/* Members "file" and "line", null for NULL and 0. */
void json_write_place(struct json_writer *json, const char *file, uint32_t line);

/* {"name", "unit", "state"} and, for what is not simply measured, "why"; for sums "sum_of", the
 * names of what is added up; for derived ones "formula". The array of those that are shown. */
void json_write_metric(struct json_writer *json, const struct metrics *metrics, size_t metric);
void json_write_metrics(struct json_writer *json, const struct metrics *metrics);

/* What the whole program has of each that is shown, by name. */
void json_write_totals(struct json_writer *json, const struct view *view);

#endif
