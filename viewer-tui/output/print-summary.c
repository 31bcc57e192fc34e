/* The summary as JSON (design.md, section 7) and as comma-separated values: processes with what
 * became of their samples, totals of the metrics, and what else run.json says. */
#include "viewer-tui/output/print.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/fates.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/output/csv.h"
#include "viewer-tui/output/metric-json.h"
#include "viewer-tui/output/print-advice.h"
#include "viewer-tui/output/run-summary.h"

#include <stdlib.h>

/* What is said of a process as run.json has it. */
static const char *const members[] = {"pid",           "command",     "host",
                                      "rank",          "origin",      "state",
                                      "signal",        "data_until",  "missing_at_most",
                                      "complete",      "workers",     "wall",
                                      "cpu",           "startup_cpu", "unsampled_cpu",
                                      "samples",       "recorded",    "idle",
                                      "nobody_working"};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Any value of run.json. */
static void write_value(struct json_writer *json, const json_t *value)
{
    const char *key;
    json_t *element;
    size_t i;
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        json_write_object(json);
        json_object_foreach((json_t *)value, key, element)
        {
            json_write_key(json, key);
            write_value(json, element);
        }
        json_write_object_end(json);
        break;
    case JSON_ARRAY:
        json_write_array(json);
        json_array_foreach(value, i, element)
        {
            write_value(json, element);
        }
        json_write_array_end(json);
        break;
    case JSON_STRING: json_write_string(json, json_string_value(value)); break;
    case JSON_INTEGER: json_write_integer(json, json_integer_value(value)); break;
    case JSON_REAL: json_write_double(json, json_real_value(value)); break;
    case JSON_TRUE: json_write_bool(json, true); break;
    case JSON_FALSE: json_write_bool(json, false); break;
    case JSON_NULL: json_write_null(json); break;
    }
}

static void write_member(struct json_writer *json, const char *key, const json_t *object)
{
    json_write_key(json, key);
    write_value(json, json_object_get(object, key));
}

static void write_process(struct json_writer *json, const json_t *process)
{
    json_write_break(json);
    json_write_object(json);
    for (size_t i = 0; i < LENGTH(members); i++)
        write_member(json, members[i], process);
    json_write_key(json, "threads");
    json_write_integer(json, (int64_t)json_array_size(json_object_get(process, "threads")));
    write_member(json, "dropped", process);
    json_write_key(json, "partial");
    json_write_integer(json, (int64_t)summary_sum(json_object_get(process, "partial")));
    json_write_key(json, "partial_reasons");
    write_value(json, json_object_get(process, "partial"));
    json_write_object_end(json);
}

static void write_tally(struct json_writer *json, const struct fate_total *fate)
{
    json_write_key(json, fate->name);
    json_write_object(json);
    json_write_key(json, "count");
    json_write_integer(json, (int64_t)fate->count);
    json_write_key(json, "amount");
    json_write_double(json, fate->amount);
    json_write_object_end(json);
}

static void write_source(struct json_writer *json, const struct source_use *use)
{
    json_write_object(json);
    json_write_text(json, "source", use->source);
    json_write_text(json, "why", use->note);
    json_write_key(json, "threads");
    json_write_integer(json, (int64_t)use->threads);
    json_write_object_end(json);
}

/* What became of the samples of each event, and where they came from. */
static void write_samples(struct json_writer *json, const struct fates *fates)
{
    json_write_key(json, "samples");
    json_write_array(json);
    for (size_t e = 0; e < fates->events.n; e++) {
        const struct event_fates *event = &fates->events.at[e];
        json_write_break(json);
        json_write_object(json);
        json_write_text(json, "event", event->event);
        json_write_key(json, "rate");
        json_write_double(json, event->rate);
        json_write_key(json, "sources");
        json_write_array(json);
        for (size_t i = 0; i < event->sources.n; i++)
            write_source(json, &event->sources.at[i]);
        json_write_array_end(json);
        json_write_key(json, "fates");
        json_write_object(json);
        for (size_t i = 0; i < event->fates.n; i++)
            write_tally(json, &event->fates.at[i]);
        json_write_object_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void print_summary_json(const struct summary *summary)
{
    static const char *const copied[] = {"measurements", "events",     "agents",  "refused_agents",
                                         "modules",      "unmeasured", "problems"};
    const struct metrics *metrics = &summary->db->metrics;
    size_t i;
    json_t *process;
    struct json_writer json;
    json_write_start(&json, summary->out, 0);
    json_write_object(&json);
    json_write_text(&json, "title", summary->title);
    json_write_key(&json, "processes");
    json_write_array(&json);
    json_array_foreach(json_object_get(summary->run, "processes"), i, process)
    {
        write_process(&json, process);
    }
    json_write_array_end(&json);
    write_samples(&json, &summary->fates);
    json_write_key(&json, "metrics");
    json_write_totals(&json, summary->view);
    json_write_key(&json, "percent_of_effort");
    json_write_object(&json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_of_effort(&metrics->at[m]))
            json_write_percent(&json, metrics->at[m].name, view_total(summary->view, m),
                               summary_effort(summary, m));
    json_write_object_end(&json);
    json_write_key(&json, "advice");
    print_advice_json(&json, &summary->advice, summary->db);
    json_write_key(&json, "metric_states");
    json_write_metrics(&json, metrics);
    json_write_key(&json, "threads");
    json_write_integer(&json, (int64_t)summary->n_threads);
    for (i = 0; i < LENGTH(copied); i++)
        write_member(&json, copied[i], summary->run);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* The beginning of a record; its value follows. */
static void begin_record(struct csv *csv, const char *section, const char *subject,
                         const char *item)
{
    csv_text(csv, section);
    csv_text(csv, subject);
    csv_text(csv, item);
}

static void add_text_record(struct csv *csv, const char *section, const char *subject,
                            const char *item, const char *text)
{
    begin_record(csv, section, subject, item);
    csv_text(csv, text);
    csv_end_record(csv);
}

static void add_number_record(struct csv *csv, const char *section, const char *subject,
                              const char *item, double number)
{
    begin_record(csv, section, subject, item);
    csv_number(csv, number);
    csv_end_record(csv);
}

static void add_value_record(struct csv *csv, const char *section, const char *subject,
                             const char *item, const json_t *value)
{
    if (json_is_string(value))
        add_text_record(csv, section, subject, item, json_string_value(value));
    else if (json_is_number(value))
        add_number_record(csv, section, subject, item, json_number_value(value));
    else if (json_is_boolean(value))
        add_text_record(csv, section, subject, item, json_is_true(value) ? "true" : "false");
    else
        add_text_record(csv, section, subject, item, NULL);
}

static void add_counts(struct csv *csv, const char *subject, const char *what, const json_t *counts)
{
    const char *reason;
    json_t *count;
    json_object_foreach((json_t *)counts, reason, count)
    {
        struct text item = {0};
        text_printf(&item, "%s: %s", what, reason);
        add_value_record(csv, "process", subject, text_string(&item), count);
        vec_free(&item);
    }
}

static void add_process_records(struct csv *csv, size_t number, const json_t *process)
{
    char subject[32];
    snprintf(subject, sizeof subject, "%zu", number);
    for (size_t i = 0; i < LENGTH(members); i++)
        add_value_record(csv, "process", subject, members[i], json_object_get(process, members[i]));
    add_number_record(csv, "process", subject, "threads",
                      (double)json_array_size(json_object_get(process, "threads")));
    add_counts(csv, subject, "dropped", json_object_get(process, "dropped"));
    add_counts(csv, subject, "partial", json_object_get(process, "partial"));
}

static void add_metric_records(struct csv *csv, const struct summary *summary)
{
    const struct metrics *metrics = &summary->db->metrics;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        begin_record(csv, "metric", metric->name, "total");
        csv_cost(csv, metric, view_total(summary->view, m));
        csv_end_record(csv);
        if (metric_is_of_effort(metric)) {
            begin_record(csv, "metric", metric->name, "percent_of_effort");
            csv_percent(csv, view_total(summary->view, m), summary_effort(summary, m));
            csv_end_record(csv);
        }
        add_text_record(csv, "metric", metric->name, "unit", metric->unit);
        if (metric->derivation)
            add_text_record(csv, "metric", metric->name, "formula", derived_formula(metric));
        if (metric->state != METRIC_MEASURED)
            add_text_record(csv, "metric", metric->name, columns_state_words(metric), metric->why);
    }
}

static void add_source_records(struct csv *csv, const char *event, const struct source_use *use)
{
    struct text item = {0};
    text_printf(&item, "threads: %s", use->source);
    add_number_record(csv, "event", event, text_string(&item), (double)use->threads);
    text_clear(&item);
    text_printf(&item, "why: %s", use->source);
    add_text_record(csv, "event", event, text_string(&item), use->note);
    vec_free(&item);
}

static void add_fate_records(struct csv *csv, const struct fates *fates)
{
    for (size_t e = 0; e < fates->events.n; e++) {
        const struct event_fates *event = &fates->events.at[e];
        add_number_record(csv, "event", event->event, "period", event->period);
        add_number_record(csv, "event", event->event, "rate", event->rate);
        for (size_t i = 0; i < event->sources.n; i++)
            add_source_records(csv, event->event, &event->sources.at[i]);
        for (size_t i = 0; i < event->fates.n; i++) {
            const struct fate_total *fate = &event->fates.at[i];
            struct text item = {0};
            text_printf(&item, "count: %s", fate->name);
            add_number_record(csv, "event", event->event, text_string(&item), (double)fate->count);
            text_clear(&item);
            text_printf(&item, "amount: %s", fate->name);
            add_number_record(csv, "event", event->event, text_string(&item), fate->amount);
            vec_free(&item);
        }
    }
}

void print_summary_csv(const struct summary *summary)
{
    struct csv csv = {.out = summary->out};
    size_t i;
    json_t *process, *problem;
    add_text_record(&csv, "section", "subject", "item", "value");
    add_text_record(&csv, "program", NULL, "title", summary->title);
    add_number_record(&csv, "program", NULL, "threads", (double)summary->n_threads);
    add_metric_records(&csv, summary);
    print_advice_csv(&csv, &summary->advice, summary->db);
    add_fate_records(&csv, &summary->fates);
    json_array_foreach(json_object_get(summary->run, "processes"), i, process)
    {
        add_process_records(&csv, i, process);
    }
    json_array_foreach(json_object_get(summary->run, "unmeasured"), i, process)
    {
        add_number_record(&csv, "unmeasured", json_string_value(json_object_get(process, "reason")),
                          "count", json_number_value(json_object_get(process, "count")));
    }
    json_array_foreach(json_object_get(summary->run, "problems"), i, problem)
    {
        add_value_record(&csv, "problem", NULL, NULL, problem);
    }
}
