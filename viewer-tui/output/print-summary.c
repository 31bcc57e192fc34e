/* The summary for programs: processes with their samples, totals of the metrics, advice, and the
 * rest of run.json: see the manual page hpcviewer(1). */
#include "viewer-tui/output/run-summary.h"

#include "viewer-tui/advice/advice-text.h"
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

/* ---- advice ---- */

static const char *name_of(const struct database *db, uint32_t procedure, char buffer[NAME_SIZE])
{
    return procedure == NOTHING ? NULL : database_procedure_name(db, procedure, buffer);
}

static void write_hotspots(struct json_writer *json, const char *key,
                           const struct hotspots *hotspots, const struct database *db)
{
    char buffer[NAME_SIZE];
    json_print(json, "%s:[", key);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct hotspot *hotspot = &hotspots->at[i];
        json_print(json, "{name:%s", name_of(db, hotspot->procedure, buffer));
        json_put_place(json, database_file_path(db, hotspot->at.file), hotspot->at.line);
        json_print(json, "loop:%i exclusive:%g}", hotspot->is_loop, hotspot->cost);
    }
    json_print(json, "]");
}

/* An array of the two ends; empty if they are not known. */
static void write_interval(struct json_writer *json, bool is_known, double low, double high)
{
    if (is_known)
        json_print(json, "[%g %g]", low, high);
    else
        json_print(json, "[]");
}

/* "idleness_percent_of_effort", "idleness_interval" and "idleness_state". */
static void write_share(struct json_writer *json, const char *name, const struct share *share,
                        enum knowledge known)
{
    static const char *const states[] = {
        [NOT_KNOWN] = "not measurable", [KNOWN_AT_LEAST] = "lower bound", [KNOWN] = "measured"};
    bool is_known = known != NOT_KNOWN;
    autofree char *percent = mem_printf("%s_percent_of_effort", name);
    autofree char *interval = mem_printf("%s_interval", name), *state = mem_printf("%s_state", name);
    json_print(json, "%s:%g %s:", percent, is_known ? 100 * share->value : NAN, interval);
    write_interval(json, is_known, 100 * share->low, 100 * share->high);
    json_print(json, "%s:%s", state, states[known]);
}

static void write_parallelization(struct json_writer *json, const struct parallelization *of,
                                  const struct database *db)
{
    const struct judgement *judgement = &of->judgement;
    autofree struct text event = {0};
    advice_event(of->event, &event);
    json_print(json, "event:%s verdict:%s effort:%g", event.n ? text_string(&event) : NULL,
               verdict_name(judgement->verdict), judgement->effort);
    write_share(json, "idleness", &judgement->idleness, judgement->idleness_known);
    write_share(json, "overhead", &judgement->overhead, judgement->overhead_known);
    json_print(json, "overhead_kinds_percent_of_effort:{");
    for (size_t i = 0; i < of->kinds.n; i++) {
        autofree char *name = overhead_kind_name(of->kinds.at[i].metric);
        json_put_percent(json, name, of->kinds.at[i].cost, judgement->effort);
    }
    json_print(json, "}");
    write_hotspots(json, "idleness_in", &of->hotspots[WASTED_IDLE], db);
    write_hotspots(json, "overhead_in", &of->hotspots[WASTED_ON_OVERHEAD], db);
}

/* An infinite factor becomes null. */
static void write_finding(struct json_writer *json, const struct finding *finding,
                          const struct database *db)
{
    char buffer[NAME_SIZE];
    json_print(json, "{kind:%s gain:%g gain_interval:", finding->name,
               finding->is_gain_claimed ? finding->gain.factor : NAN);
    write_interval(json, finding->is_gain_claimed, finding->gain.low, finding->gain.high);
    json_print(json, "scope:%s", name_of(db, finding->procedure, buffer));
    json_put_place(json, database_file_path(db, finding->file), finding->line);
    json_print(json, "text:%s", finding->text);
    if (finding->phase)
        json_print(json, "phase:%u percent_in_phase:%g", finding->phase, 100 * finding->part_in_phase);
    json_print(json, "details:[");
    for (size_t i = 0; i < finding->details.n; i++)
        json_write_string(json, finding->details.at[i] + (*finding->details.at[i] == FINDING_ITEM));
    json_print(json, "]");
    if (finding->kind == FINDING_PARALLELIZATION)
        write_parallelization(json, finding->source, db);
    json_print(json, "}");
}

/* ---- all ---- */

static void print_summary_json(struct summary *summary)
{
    static const char *const copied[] = {"measurements", "events",  "agents",     "refused_agents",
                                         "regions",      "modules", "unmeasured", "problems"};
    const struct metrics *metrics = &summary->db->metrics;
    struct json_writer *json = &summary->writer.json;
    json_print(json, "title:%s", session_title(summary->session, summary->db));
    json_put_range(json, summary->session);
    json_print(json, "processes:[");
    json_each (process, json_object_get(summary->run, "processes"))
        write_process(json, process);
    json_print(json, "] samples:[");
    for (size_t i = 0; i < summary->fates.events.n; i++)
        write_event(json, &summary->fates.events.at[i]);
    json_print(json, "]");
    json_put_totals(json, summary->view);
    json_print(json, "percent_of_effort:{");
    metrics_each (m, metrics, metrics_shown)
        if (metric_is_of_effort(&metrics->at[m]))
            json_put_percent(json, metrics->at[m].name, view_total(summary->view, m), summary_effort(summary, m));
    json_print(json, "}");
    print_work_span_json(summary);
    json_print(json, "advice:["); /* the largest gain first; doc/FORMAT-database.md describes it */
    for (size_t i = 0; i < summary->advice->findings.list.n; i++)
        write_finding(json, &summary->advice->findings.list.at[i], summary->db);
    json_print(json, "]");
    json_put_metrics(json, "metric_states", metrics);
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
                              .n_threads = threads_count(view->db),
                              .view = view,
                              .advice = session_advice(session, view)};
    if (!summary.advice || !summary_take_changes(&summary, options->changes))
        return 2;
    fates_read(&summary.fates, session->run);
    writer_open(&summary.writer, options->format, options->width, out);
    printers[options->format](&summary);
    writer_free(&summary.writer);
    fates_free(&summary.fates);
    vec_free(&summary.what_ifs);
    return 0;
}
