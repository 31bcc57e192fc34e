/* Metrics and their values in JSON, the same in every view. */
#ifndef VIEWER_METRIC_JSON_H
#define VIEWER_METRIC_JSON_H

#include "lib/json.h"
#include "viewer-tui/metric.h"

/* A value of the metric, null when it was not measured. */
void json_write_cost(struct json_writer *json, const struct metric *metric, double value);

/* The array of {"name", "unit", "state"} and, for what was not measured, "why". */
void json_write_metrics(struct json_writer *json, const struct metrics *metrics);

#endif
