/* The summary for programs: processes with their samples, totals of the metrics, advice, and the
 * rest of run.json: see the manual page hpcviewer(1). */
#include "viewer-tui/output/run-summary.h"

#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/output/print.h"
#include "viewer-tui/threads/run-threads.h"

#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The members of a process in run.json that are written as they are. */
static const char *const members[] = {"pid",         "command",       "host",
                                      "rank",        "origin",        "state",
                                      "signal",      "data_until",    "missing_at_most",
                                      "recovered",   "write_error",   "complete",
                                      "workers",     "wall",          "cpu",
                                      "startup_cpu", "unsampled_cpu", "samples",
                                      "recorded",    "idle",          "nobody_working"};

double summary_sum(const json_t *counts)
{
    const char *reason;
    json_t *count;
    double sum = 0;
    json_object_foreach((json_t *)counts, reason, count)
    {
        sum += json_number_value(count);
    }
    return sum;
}

/* Any value of run.json; null for NULL. */
static void write_value(struct json_writer *json, const json_t *value)
{
    const char *key;
    json_t *member;
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        json_write_object(json);
        json_object_foreach((json_t *)value, key, member)
        {
            json_write_key(json, key);
            write_value(json, member);
        }
        json_write_object_end(json);
        break;
    case JSON_ARRAY:
        json_write_array(json);
        json_each (element, value)
            write_value(json, element);
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

static void copy_member(struct json_writer *json, const char *key, const json_t *object)
{
    json_write_key(json, key);
    write_value(json, json_object_get(object, key));
}

static void write_process(struct json_writer *json, const json_t *process)
{
    const json_t *partial = json_object_get(process, "partial");
    json_write_break(json);
    json_write_object(json);
    for (size_t i = 0; i < LENGTH(members); i++)
        copy_member(json, members[i], process);
    json_put_integer(json, "threads",
                     (int64_t)json_array_size(json_object_get(process, "threads")));
    copy_member(json, "dropped", process);
    json_put_integer(json, "partial", (int64_t)summary_sum(partial));
    json_write_key(json, "partial_reasons");
    write_value(json, partial);
    json_write_object_end(json);
}

/* The samples of an event: their sources, and their number by fate. */
static void write_event(struct json_writer *json, const struct event_fates *event)
{
    json_write_break(json);
    json_write_object(json);
    json_write_text(json, "event", event->event);
    json_put_number(json, "rate", event->rate);
    json_put_array(json, "sources");
    for (size_t i = 0; i < event->sources.n; i++) {
        json_write_object(json);
        json_write_text(json, "source", event->sources.at[i].source);
        json_write_text(json, "why", event->sources.at[i].note);
        json_put_integer(json, "threads", (int64_t)event->sources.at[i].threads);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_put_object(json, "fates");
    for (size_t i = 0; i < event->fates.n; i++) {
        json_put_object(json, event->fates.at[i].name);
        json_put_integer(json, "count", (int64_t)event->fates.at[i].count);
        json_put_number(json, "amount", event->fates.at[i].amount);
        json_write_object_end(json);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

static void write_totals(struct json_writer *json, const struct summary *summary)
{
    const struct metrics *metrics = &summary->db->metrics;
    json_put_totals(json, summary->view);
    json_put_object(json, "percent_of_effort");
    metrics_each (m, metrics, metrics_shown)
        if (metric_is_of_effort(&metrics->at[m]))
            json_put_percent(json, metrics->at[m].name, view_total(summary->view, m),
                             summary_effort(summary, m));
    json_write_object_end(json);
}

static void print_summary_json(struct summary *summary)
{
    static const char *const copied[] = {"measurements", "events",  "agents",     "refused_agents",
                                         "regions",      "modules", "unmeasured", "problems"};
    struct json_writer *json = &summary->writer.json;
    json_write_text(json, "title", summary->title);
    json_put_range(json, summary->session);
    json_put_array(json, "processes");
    json_each (process, json_object_get(summary->run, "processes"))
        write_process(json, process);
    json_write_array_end(json);
    json_put_array(json, "samples");
    for (size_t i = 0; i < summary->fates.events.n; i++)
        write_event(json, &summary->fates.events.at[i]);
    json_write_array_end(json);
    write_totals(json, summary);
    print_work_span_json(summary);
    print_advice_json(json, &summary->advice, summary->db);
    json_put_metrics(json, "metric_states", &summary->db->metrics);
    json_put_integer(json, "threads", (int64_t)summary->n_threads);
    for (size_t i = 0; i < LENGTH(copied); i++)
        copy_member(json, copied[i], summary->run);
}

int print_summary(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(struct summary *) = {
        [FORMAT_TEXT] = print_summary_text,
        [FORMAT_JSON] = print_summary_json,
    };
    struct summary summary = {.session = session,
                              .db = view->db,
                              .run = session->run,
                              .title = session_title(session, view->db),
                              .n_threads = threads_count(view->db),
                              .view = view,
                              .advice = session_advice(session, view, 0),
                              .width = options->width};
    if (!summary_take_changes(&summary, options->changes)) {
        advice_free(&summary.advice);
        return 2;
    }
    fates_read(&summary.fates, session->run);
    writer_open(&summary.writer, options->format, options->width, out);
    printers[options->format](&summary);
    writer_free(&summary.writer);
    fates_free(&summary.fates);
    vec_free(&summary.what_ifs);
    advice_free(&summary.advice);
    return 0;
}
