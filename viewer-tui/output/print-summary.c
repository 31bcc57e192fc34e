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
    json_print(json, "\n{");
    for (size_t i = 0; i < LENGTH(members); i++)
        copy_member(json, members[i], process);
    json_print(json, "threads:%zu", json_array_size(json_object_get(process, "threads")));
    copy_member(json, "dropped", process);
    json_print(json, "partial:%jd partial_reasons:", (intmax_t)summary_sum(partial));
    write_value(json, partial);
    json_print(json, "}");
}

/* The samples of an event: their sources, and their number by fate. */
static void write_event(struct json_writer *json, const struct event_fates *event)
{
    json_print(json, "\n{event:%s rate:%g sources:[", event->event, event->rate);
    for (size_t i = 0; i < event->sources.n; i++) {
        const struct source_use *use = &event->sources.at[i];
        json_print(json, "{source:%s why:%s threads:%zu}", use->source, use->note, use->threads);
    }
    json_print(json, "] fates:{");
    for (size_t i = 0; i < event->fates.n; i++) {
        const struct fate_total *fate = &event->fates.at[i];
        json_print(json, "%s:{count:%jd amount:%g}", fate->name, (intmax_t)fate->count, fate->amount);
    }
    json_print(json, "}}");
}

static void write_totals(struct json_writer *json, const struct summary *summary)
{
    const struct metrics *metrics = &summary->db->metrics;
    json_put_totals(json, summary->view);
    json_print(json, "percent_of_effort:{");
    metrics_each (m, metrics, metrics_shown)
        if (metric_is_of_effort(&metrics->at[m]))
            json_put_percent(json, metrics->at[m].name, view_total(summary->view, m),
                             summary_effort(summary, m));
    json_print(json, "}");
}

static void print_summary_json(struct summary *summary)
{
    static const char *const copied[] = {"measurements", "events",  "agents",     "refused_agents",
                                         "regions",      "modules", "unmeasured", "problems"};
    struct json_writer *json = &summary->writer.json;
    json_print(json, "title:%s", summary->title);
    json_put_range(json, summary->session);
    json_print(json, "processes:[");
    json_each (process, json_object_get(summary->run, "processes"))
        write_process(json, process);
    json_print(json, "] samples:[");
    for (size_t i = 0; i < summary->fates.events.n; i++)
        write_event(json, &summary->fates.events.at[i]);
    json_print(json, "]");
    write_totals(json, summary);
    print_work_span_json(summary);
    print_advice_json(json, &summary->advice, summary->db);
    json_put_metrics(json, "metric_states", &summary->db->metrics);
    json_print(json, "threads:%zu", summary->n_threads);
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
