#include "viewer-tui/output/metric-json.h"

#include "viewer-tui/metrics/derived.h"

void json_write_cost(struct json_writer *json, const struct metric *metric, double value)
{
    if (metric_is_measured(metric))
        json_write_double(json, value);
    else
        json_write_null(json);
}

void json_write_percent(struct json_writer *json, const char *key, double value, double effort)
{
    json_write_key(json, key);
    if (effort != 0)
        json_write_double(json, 100 * value / effort);
    else
        json_write_null(json);
}

void json_write_place(struct json_writer *json, const char *file, uint32_t line)
{
    json_write_text(json, "file", file);
    json_write_key(json, "line");
    if (line)
        json_write_integer(json, line);
    else
        json_write_null(json);
}

/* The names of the metrics that the one at `sum` adds up. */
static void write_parts(struct json_writer *json, const struct metrics *metrics, size_t sum)
{
    json_write_key(json, "sum_of");
    json_write_array(json);
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        if (metrics->at[m].sum == (int)sum && metric_is_added(&metrics->at[m]))
            json_write_string(json, metrics->at[m].name);
    json_write_array_end(json);
}

void json_write_metric(struct json_writer *json, const struct metrics *metrics, size_t index)
{
    const struct metric *metric = &metrics->at[index];
    json_write_object(json);
    json_write_text(json, "name", metric->name);
    json_write_text(json, "unit", metric->unit);
    json_write_text(json, "state", metric_state_name(metric->state));
    if (metric->state != METRIC_MEASURED) {
        json_write_text(json, "why", metric->why);
    }
    if (metric->called) {
        json_write_text(json, "called", metric->called);
    }
    if (metric_is_sum(metric))
        write_parts(json, metrics, index);
    if (metric->derivation) {
        json_write_text(json, "formula", derived_formula(metric));
    }
    json_write_object_end(json);
}

void json_write_metrics(struct json_writer *json, const struct metrics *metrics)
{
    json_write_array(json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        json_write_metric(json, metrics, m);
    json_write_array_end(json);
}

void json_write_totals(struct json_writer *json, const struct view *view)
{
    const struct metrics *metrics = view->metrics;
    json_write_object(json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        json_write_key(json, metrics->at[m].name);
        json_write_cost(json, &metrics->at[m], view_total(view, m));
    }
    json_write_object_end(json);
}
