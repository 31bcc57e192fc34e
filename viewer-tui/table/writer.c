#include "viewer-tui/table/writer.h"

#include "lib/printable.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/tree/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void writer_open(struct writer *writer, enum format format, size_t width, FILE *out)
{
    *writer = (struct writer){.format = format,
                              .out = out,
                              .ascii = describe_in_ascii(),
                              .width = width ? width : LINE_WIDTH,
                              .is_terminal = width > 0};
    if (format != FORMAT_JSON)
        return;
    json_write_start(&writer->json, out, 0);
    json_write_object(&writer->json);
}

void writer_free(struct writer *writer)
{
    if (writer->format == FORMAT_JSON) {
        json_write_object_end(&writer->json);
        json_write_finish(&writer->json);
    }
    vec_free(&writer->line);
}

void json_put_range(struct json_writer *json, const struct session *session)
{
    const json_t *range = json_object_get(session->run, "range");
    if (!range)
        return;
    json_print(json, "range:{from:%g to:%g records:%jd step:%jd", run_number(range, "from"), run_number(range, "to"),
               (intmax_t)run_number(range, "records"), (intmax_t)run_number(range, "step"));
    if (json_object_get(range, "pieces"))
        json_print(json, "pieces:%jd length:%g", (intmax_t)run_number(range, "pieces"), run_number(range, "length"));
    json_print(json, "}");
}

void writer_head(struct writer *writer, const struct session *session, const struct database *db, const char *view,
                 enum projection projection)
{
    struct json_writer *json = &writer->json;
    if (writer->format == FORMAT_TEXT)
        writer_run_line(writer, session, db);
    if (writer->format != FORMAT_JSON)
        return;
    json_print(json, "title:%s", session_title(session, db));
    if (session_is_comparison(session)) {
        json_print(json, "databases:[");
        for (size_t i = 0; i < session->runs.n; i++)
            if (i == 0 || session->runs.at[i].group != session->runs.at[i - 1].group)
                json_print(json, "{name:%s path:%s}", session->comparing->names[session->runs.at[i].group],
                           session->runs.at[i].folder);
        json_print(json, "]");
    }
    json_put_range(json, session);
    json_print(json, "view:%s projection:%s", view, projection_name(projection));
}

/* ---- Text ---- */

void writer_end_line(struct writer *writer)
{
    if (writer->is_terminal && writer->format == FORMAT_TEXT) {
        autofree char *line = mem_strdup(text_string(&writer->line));
        text_clear(&writer->line);
        text_add_broken(&writer->line, line, writer->width);
    }
    text_end_line(&writer->line, writer->out);
}

void writer_run_line(struct writer *writer, const struct session *session,
                     const struct database *db)
{
    run_line_add(session, db, writer->width, writer->ascii, &writer->line);
    writer_end_line(writer);
}

void writer_heading(struct writer *writer, const char *heading)
{
    writer_line(writer, writer->format == FORMAT_MARKDOWN ? "\n### %s\n" : "\n%s", heading);
}

void column_titles_add(struct column_titles *titles, const char *title, size_t width)
{
    char *copy = mem_strdup(title);
    vec_push(&titles->list, (struct column_title){.title = copy, .rest = copy, .width = width});
}

bool column_titles_line(struct column_titles *titles, bool is_centered, struct text *line)
{
    autofree struct text piece = {0};
    bool has_any = false;
    size_t length_before = line->n;
    for (size_t i = 0; i < titles->list.n; i++) {
        struct column_title *title = &titles->list.at[i];
        has_any |= text_take_line(&title->rest, title->width - 1, &piece);
        size_t space = title->width - text_columns(text_string(&piece));
        size_t before = is_centered ? space / 2 : space;
        text_pad(line, ' ', before);
        text_add(line, text_string(&piece));
        text_pad(line, ' ', space - before);
    }
    if (!has_any && line->at) {
        line->n = length_before;
        line->at[length_before] = '\0';
    }
    return has_any;
}

void column_titles_free(struct column_titles *titles)
{
    for (size_t i = 0; i < titles->list.n; i++)
        free(titles->list.at[i].title);
    vec_free(&titles->list);
}

/* ---- CSV ---- */

static void begin_field(struct writer *writer)
{
    if (writer->has_fields)
        putc_unlocked(',', writer->out);
    writer->has_fields = true;
}

/* Writes text in its printable form, with each quote doubled. */
static void write_quoted(FILE *out, const char *text)
{
    while (*text) {
        if (*text == '"')
            putc_unlocked('"', out);
        char form[PRINTABLE_BYTES];
        size_t length = printable_next(&text, form);
        fwrite_unlocked(form, 1, length, out);
    }
}

void csv_text(struct writer *writer, const char *text)
{
    begin_field(writer);
    if (!text)
        return;
    const char *quote = strpbrk(text, ",\"") ? "\"" : "";
    fputs_unlocked(quote, writer->out);
    /* A spreadsheet takes these for formulas, which could run a program or send other fields to somebody. Tabs and line
     * ends before them, which spreadsheets skip, have been escaped. */
    char *rest;
    bool begins_formula = *text && strchr("=+-@", *text);
    if (begins_formula && strcmp(text, "-") != 0 && (strtod(text, &rest), *rest != '\0'))
        putc_unlocked('\'', writer->out);
    write_quoted(writer->out, text);
    fputs_unlocked(quote, writer->out);
}

void csv_number(struct writer *writer, double value)
{
    char text[JSON_DOUBLE_SIZE];
    json_format_double(value, text);
    begin_field(writer);
    fputs_unlocked(text, writer->out);
}

void csv_integer(struct writer *writer, uint64_t value)
{
    begin_field(writer);
    fprintf(writer->out, "%" PRIu64, value);
}

const char *csv_state(const struct metric *metric)
{
    return metric_is_lower_bound(metric) ? " (lower bound)" : "";
}

void csv_end_record(struct writer *writer)
{
    fputs("\r\n", writer->out);
    writer->has_fields = false;
}

/* ---- JSON ---- */

void json_put_cost(struct json_writer *json, const char *key, const struct metric *metric,
                   double value)
{
    json_print(json, "%s:%g", key, metric_is_measured(metric) ? value : NAN);
}

void json_put_percent(struct json_writer *json, const char *key, double value, double effort)
{
    json_print(json, "%s:%g", key, effort != 0 ? 100 * value / effort : NAN);
}

void json_put_place(struct json_writer *json, const char *file, uint32_t line)
{
    json_print(json, "file:%s line:%jd", file, line ? (intmax_t)line : -1);
}

void json_put_errors(struct json_writer *json, const struct work_span *of)
{
    if (of->work_error != 0 || of->span_error != 0)
        json_print(json, "work_error:%g span_error:%g burdened_span_error:%g", of->work_error, of->span_error,
                   of->burdened_error);
}

void json_write_metric(struct json_writer *json, const struct metrics *metrics, size_t index)
{
    const struct metric *metric = &metrics->at[index];
    json_print(json, "{name:%s unit:%s state:%s", metric->name, metric->unit, metric_state_name(metric->state));
    if (metric->bounds_total)
        json_print(json, "bounds:'total'");
    if (metric->state != METRIC_MEASURED)
        json_print(json, "why:%s", metric->why);
    if (metric->error > 0)
        json_print(json, "error:%g", metric->error);
    if (metric_called(metric))
        json_print(json, "called:%s", metric_called(metric));
    if (metric_is_sum(metric)) {
        json_print(json, "sum_of:["); /* the names of the metrics that it adds up */
        for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
            if (metrics->at[m].sum == (int)index && metric_is_added(&metrics->at[m]))
                json_write_string(json, metrics->at[m].name);
        json_print(json, "]");
    }
    if (metric_derivation(metric))
        json_print(json, "formula:%s", derived_formula(metric));
    json_print(json, "}");
}

void json_put_metrics(struct json_writer *json, const char *key, const struct metrics *metrics)
{
    json_print(json, "%s:[", key);
    metrics_each (m, metrics, metrics_in_json)
        json_write_metric(json, metrics, m);
    json_print(json, "]");
}

void json_put_totals(struct json_writer *json, const struct view *view)
{
    const struct metrics *metrics = view->metrics;
    json_print(json, "metrics:{");
    metrics_each (m, metrics, metrics_in_json)
        json_put_cost(json, metrics->at[m].name, &metrics->at[m], view_total(view, m));
    json_print(json, "}");
}
