/* The threads as comma-separated values and as JSON, with the sum, the least, mean and largest
 * value of each metric at the end; where effort is shown, with percentages of its sum. */
#include "viewer-tui/output/print.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/output/csv.h"
#include "viewer-tui/output/metric-json.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/threads/thread-origin.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void add_integer(struct csv *csv, int64_t value)
{
    if (value >= 0)
        csv_integer(csv, (uint64_t)value);
    else
        csv_text(csv, NULL);
}

static void add_heads(struct csv *csv, const struct metrics *metrics)
{
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        struct text name = {0};
        text_printf(&name, "%s%s", metric->name, csv_state(metric));
        csv_text(csv, text_string(&name));
        text_add(&name, ":percent_of_effort");
        if (metric_is_of_effort(metric))
            csv_text(csv, text_string(&name));
        vec_free(&name);
    }
    csv_end_record(csv);
}

static void add_values(struct csv *csv, const struct thread_table *table, const double *values)
{
    const struct metrics *metrics = &table->db->metrics;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        csv_cost(csv, &metrics->at[m], values[m]);
        if (metric_is_of_effort(&metrics->at[m]))
            csv_percent(csv, values[m], threads_whole(table->threads, metrics, m));
    }
    csv_end_record(csv);
}

static const char *text_or_null(const json_t *object, const char *key)
{
    const char *text = run_text(object, key);
    return *text ? text : NULL;
}

static void add_origin(struct csv *csv, const struct thread *thread)
{
    struct text created_at = {0};
    if (thread->created_at)
        thread_origin_add(thread->created_at, false, &created_at);
    csv_text(csv, text_or_null(thread->described, "start_routine"));
    csv_text(csv, text_or_null(thread->described, "root"));
    csv_text(csv, thread->created_at ? text_string(&created_at) : NULL);
    vec_free(&created_at);
}

void print_threads_csv(const struct thread_table *table)
{
    static const char *const columns[] = {
        "kind", "profile", "pid",     "tid",     "name",          "command", "id",        "host",
        "rank", "samples", "dropped", "partial", "start_routine", "root",    "created_at"};
    struct csv csv = {.out = table->out};
    for (size_t i = 0; i < LENGTH(columns); i++)
        csv_text(&csv, columns[i]);
    add_heads(&csv, &table->db->metrics);
    for (size_t i = 0; i < table->threads->list.n; i++) {
        const struct thread *thread = &table->threads->list.at[i];
        csv_text(&csv, "thread");
        csv_integer(&csv, thread->profile);
        add_integer(&csv, thread->pid);
        add_integer(&csv, thread->tid);
        csv_text(&csv, thread->name);
        csv_text(&csv, run_text(thread->process, "command"));
        csv_text(&csv, thread->id);
        csv_text(&csv, run_text(thread->process, "host"));
        add_integer(&csv, run_rank(thread->process));
        csv_integer(&csv, thread->samples);
        csv_integer(&csv, thread->dropped);
        csv_integer(&csv, thread->partial);
        add_origin(&csv, thread);
        add_values(&csv, table, thread->totals);
    }
    for (int s = 0; s < STATISTICS; s++) {
        csv_text(&csv, statistic_name((enum statistic)s));
        for (size_t i = 1; i < LENGTH(columns); i++)
            csv_text(&csv, NULL);
        add_values(&csv, table, table->threads->statistics[s]);
    }
}

static void write_integer(struct json_writer *json, const char *key, int64_t value)
{
    json_write_key(json, key);
    if (value >= 0)
        json_write_integer(json, value);
    else
        json_write_null(json);
}

static void write_values(struct json_writer *json, const struct thread_table *table,
                         const double *values)
{
    const struct metrics *metrics = &table->db->metrics;
    json_write_object(json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        json_write_key(json, metrics->at[m].name);
        json_write_cost(json, &metrics->at[m], values[m]);
    }
    json_write_object_end(json);
}

static void write_percentages(struct json_writer *json, const struct thread_table *table,
                              const double *values)
{
    const struct metrics *metrics = &table->db->metrics;
    json_write_object(json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_of_effort(&metrics->at[m]))
            json_write_percent(json, metrics->at[m].name, values[m],
                               threads_whole(table->threads, metrics, m));
    json_write_object_end(json);
}

static void write_thread(struct json_writer *json, const struct thread_table *table,
                         const struct thread *thread)
{
    json_write_break(json);
    json_write_object(json);
    write_integer(json, "profile", thread->profile);
    write_integer(json, "pid", thread->pid);
    write_integer(json, "tid", thread->tid);
    json_write_text(json, "name", thread->name);
    json_write_text(json, "command", run_text(thread->process, "command"));
    json_write_text(json, "id", thread->id);
    json_write_text(json, "host", run_text(thread->process, "host"));
    write_integer(json, "rank", run_rank(thread->process));
    write_integer(json, "samples", (int64_t)thread->samples);
    write_integer(json, "dropped", (int64_t)thread->dropped);
    write_integer(json, "partial", (int64_t)thread->partial);
    json_write_text(json, "start_routine", text_or_null(thread->described, "start_routine"));
    json_write_text(json, "root", text_or_null(thread->described, "root"));
    json_write_key(json, "created_at");
    thread_origin_write(thread->created_at, json);
    json_write_key(json, "metrics");
    write_values(json, table, thread->totals);
    json_write_key(json, "percent_of_effort");
    write_percentages(json, table, thread->totals);
    json_write_object_end(json);
}

void print_threads_json(const struct thread_table *table)
{
    struct json_writer json;
    json_write_start(&json, table->out, 0);
    json_write_object(&json);
    json_write_text(&json, "title", session_title(table->session, table->db));
    json_write_text(&json, "view", "threads");
    json_write_text(&json, "projection", projection_name(table->projection));
    json_write_key(&json, "metrics");
    json_write_metrics(&json, &table->db->metrics);
    json_write_key(&json, "threads");
    json_write_array(&json);
    for (size_t i = 0; i < table->threads->list.n; i++)
        write_thread(&json, table, &table->threads->list.at[i]);
    json_write_array_end(&json);
    json_write_key(&json, "statistics");
    json_write_object(&json);
    for (int s = 0; s < STATISTICS; s++) {
        json_write_key(&json, statistic_name((enum statistic)s));
        write_values(&json, table, table->threads->statistics[s]);
    }
    json_write_object_end(&json);
    json_write_key(&json, "statistics_percent_of_effort");
    json_write_object(&json);
    for (int s = 0; s < STATISTICS; s++) {
        json_write_key(&json, statistic_name((enum statistic)s));
        write_percentages(&json, table, table->threads->statistics[s]);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}
