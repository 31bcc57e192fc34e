/* The summary of a comparison: both runs side by side, what changed (changes.h), and the procedures
 * whose own costs differ most. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/compare/session-views.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer lists would not fit the summary's screen. */
#define MOST_CHANGED 5

/* Columns of text: a number with its unit, and the percentage after the difference. */
#define COLUMN  14
#define PERCENT 9

static const char *const change_names[DIRECTIONS] = {[MORE] = "grew", [LESS] = "shrank"};
static const char *const direction_names[DIRECTIONS] = {[MORE] = "more", [LESS] = "less"};

struct comparison_printer {
    struct writer writer;
    const struct session *session;
    const struct merged_runs *comparison;
    enum projection projection;
    struct view *view;    /* bottom-up, of which the changed procedures are rows */
    struct view *topdown; /* of which the changes are */
    size_t metric;        /* the left column of the metric by which changed procedures are listed */
    uint32_t changed[DIRECTIONS][MOST_CHANGED]; /* the largest changes first */
    size_t n_changed[DIRECTIONS];
    changes_list changes; /* of the whole program */
};

/* A number of each run. */
struct fact {
    const char *name;
    double of[SIDES];
};

#define N_FACTS 3

static void find_facts(const struct merged_runs *comparison, struct fact facts[N_FACTS])
{
    facts[0] = (struct fact){.name = "processes"};
    facts[1] = (struct fact){.name = "workers"};
    facts[2] = (struct fact){.name = "problems"};
    for (int side = 0; side < SIDES; side++) {
        const json_t *run = merged_first_run(comparison, (size_t)side)->run;
        facts[0].of[side] = (double)json_array_size(json_object_get(run, "processes"));
        facts[1].of[side] = comparison_workers(comparison, side);
        facts[2].of[side] = (double)json_array_size(json_object_get(run, "problems"));
    }
}

/* Lists the procedures whose own costs changed most, in each direction. */
static void find_changed(struct comparison_printer *printer)
{
    struct view *view = printer->view;
    size_t metric = printer->metric + MERGED_DIFFERENCE;
    view_sort(view, (struct sorting){.metric = metric, .part = EXCLUSIVE});
    view_expand(view, 0);
    uint32_t n = view_row(view, 0)->n_children;
    for (uint32_t i = 0; i < n && i < MOST_CHANGED; i++) {
        uint32_t most = view_child(view, 0, i), least = view_child(view, 0, n - 1 - i);
        if (view_cost(view, most, metric, EXCLUSIVE) > 0)
            printer->changed[MORE][printer->n_changed[MORE]++] = most;
        if (view_cost(view, least, metric, EXCLUSIVE) < 0)
            printer->changed[LESS][printer->n_changed[LESS]++] = least;
    }
}

/* ---- Text ---- */

static void add_right(struct writer *writer, const char *text)
{
    text_add_clean(&writer->right, text, writer->ascii);
    text_cut(&writer->right, COLUMN - 1);
    text_add_right(&writer->line, text_string(&writer->right), COLUMN);
    text_clear(&writer->right);
}

static void print_facts(struct comparison_printer *printer)
{
    struct writer *writer = &printer->writer;
    struct fact facts[N_FACTS];
    find_facts(printer->comparison, facts);
    for (int column = 0; column < MERGED_COLUMNS; column++) {
        add_right(writer, comparison_column(printer->comparison, (enum merged_column)column));
        text_pad(&writer->line, ' ', column == MERGED_DIFFERENCE ? PERCENT : 0);
    }
    writer_end_line(writer);
    for (size_t i = 0; i < N_FACTS; i++) {
        for (int side = 0; side < SIDES; side++)
            add_right(writer, number_grouped((uint64_t)facts[i].of[side]).text);
        writer_line(writer, "%*s%s", (MERGED_COLUMNS - SIDES) * COLUMN + PERCENT + 2, "",
                    facts[i].name);
    }
}

/* The four numbers of a row, and the percentage of the difference. */
static void add_costs(struct comparison_printer *printer, uint32_t row, size_t metric,
                      enum cost_part part)
{
    const struct view *view = printer->view;
    for (size_t m = metric; m < metric + MERGED_COLUMNS; m++) {
        struct number_text percent = {""};
        double value = view_cost(view, row, m, part);
        add_right(&printer->writer, columns_with_unit(view, m, value).text);
        if (m != metric + MERGED_DIFFERENCE)
            continue;
        if (isfinite(value) && value != 0)
            percent = number_percent(value, view_whole(view, m));
        text_printf(&printer->writer.line, "%*s%s", PERCENT - 1, percent.text, *percent.text ? "%" : " ");
    }
    text_add(&printer->writer.line, "  ");
}

static void print_metrics(struct comparison_printer *printer)
{
    struct writer *writer = &printer->writer;
    const struct metrics *metrics = printer->view->metrics;
    metrics_each (m, metrics, metrics_shown) {
        if (!metric_is_compared(&metrics->at[m]) || metrics->at[m].compared.column != MERGED_LEFT)
            continue;
        char *name = comparison_metric_name(&metrics->at[m]);
        const char *why = metrics->at[m + MERGED_DIFFERENCE].why;
        add_costs(printer, 0, m, INCLUSIVE);
        writer_say(writer, "%s%s%s", name, why ? ": " : "", why ? why : "");
        writer_end_line(writer);
        free(name);
    }
}

static void print_changed(struct comparison_printer *printer, enum direction direction)
{
    struct writer *writer = &printer->writer;
    char *metric = comparison_metric_name(&printer->view->metrics->at[printer->metric]);
    if (printer->n_changed[direction]) {
        writer_end_line(writer);
        writer_say(writer, "Procedures whose own %s %s most", metric, change_names[direction]);
        writer_end_line(writer);
    }
    for (size_t i = 0; i < printer->n_changed[direction]; i++) {
        uint32_t row = printer->changed[direction][i];
        add_costs(printer, row, printer->metric, EXCLUSIVE);
        describe_name(printer->view, row, writer->ascii, &writer->line);
        describe_location(printer->view, row, writer->ascii, &writer->right);
        writer_line(writer, "%s%s", writer->right.n ? "  " : "", text_string(&writer->right));
        text_clear(&writer->right);
    }
    free(metric);
}

static void print_text(struct comparison_printer *printer)
{
    struct writer *writer = &printer->writer;
    writer_run_line(writer, printer->session, NULL);
    writer_line(writer, "comparison, %s projection%s\n", projection_name(printer->projection),
                session_folding_words(printer->session));
    print_facts(printer);
    print_metrics(printer);
    writer_end_line(writer);
    comparison_explain(printer->comparison, &writer->line);
    writer_end_line(writer);
    struct advice_lines lines = {.width = ADVICE_WIDTH, .ascii = writer->ascii};
    changes_describe(&printer->changes, printer->topdown, 0, &lines);
    advice_lines_print(&lines, writer->out);
    advice_lines_free(&lines);
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        print_changed(printer, (enum direction)direction);
}

/* ---- JSON ---- */

static void write_databases(struct comparison_printer *printer)
{
    struct json_writer *json = &printer->writer.json;
    struct fact facts[N_FACTS];
    find_facts(printer->comparison, facts);
    json_put_array(json, "databases");
    for (int side = 0; side < SIDES; side++) {
        size_t first = merged_group_first(printer->comparison, (size_t)side);
        json_write_object(json);
        json_write_text(json, "name", comparison_name(printer->comparison, side));
        json_write_text(json, "path", printer->session->runs.at[first].folder);
        if (merged_is_of_repeats(printer->comparison))
            json_put_integer(json, "runs", (int64_t)merged_group_size(printer->comparison, (size_t)side));
        for (size_t i = 0; i < N_FACTS; i++)
            json_put_number(json, facts[i].name, facts[i].of[side]);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_changed(struct comparison_printer *printer, enum direction direction)
{
    const struct view *view = printer->view;
    struct json_writer *json = &printer->writer.json;
    struct text *name = &printer->writer.right;
    json_put_array(json, change_names[direction]);
    for (size_t i = 0; i < printer->n_changed[direction]; i++) {
        uint32_t row = printer->changed[direction][i];
        text_clear(name);
        label_name(view, row, name);
        json_write_object(json);
        json_write_text(json, "name", text_string(name));
        for (size_t m = printer->metric; m < printer->metric + MERGED_COLUMNS; m++)
            json_put_cost(json, view->metrics->at[m].name, &view->metrics->at[m],
                          view_cost(view, row, m, EXCLUSIVE));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_both(struct comparison_printer *printer, const struct costs_of_both *costs)
{
    struct json_writer *json = &printer->writer.json;
    for (int side = 0; side < SIDES; side++)
        json_put_number(json, comparison_name(printer->comparison, side), costs->sides[side]);
    json_put_number(json, comparison_column(printer->comparison, MERGED_DIFFERENCE),
                    costs->difference);
    if (merged_is_of_repeats(printer->comparison))
        json_put_number(json, comparison_column(printer->comparison, MERGED_UNCERTAINTY), costs->uncertainty);
}

static void write_hotspots(struct comparison_printer *printer, const char *key,
                           const struct changed_hotspots *hotspots)
{
    struct json_writer *json = &printer->writer.json;
    char buffer[NAME_SIZE];
    json_put_array(json, key);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct changed_hotspot *hotspot = &hotspots->at[i];
        json_write_object(json);
        uint32_t procedure = hotspot->hotspot.procedure;
        json_write_text(json, "name",
                        procedure == NOTHING ? "" : database_procedure_name(hotspot->db, procedure, buffer));
        json_put_place(json, database_file_path(hotspot->db, hotspot->hotspot.at.file),
                       hotspot->hotspot.at.line);
        write_both(printer, &hotspot->costs);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_part_changes(struct comparison_printer *printer, const struct change *change,
                               enum efficiency_part part)
{
    struct json_writer *json = &printer->writer.json;
    json_put_object(json, efficiency_part_name(part));
    json_write_text(json, "verdict", change_verdict_name(change->verdict));
    write_both(printer, &change->costs);
    for (int direction = MORE; part != EFFORT && direction < DIRECTIONS; direction++)
        write_hotspots(printer, direction_names[direction], &change->hotspots[direction]);
    json_write_object_end(json);
}

/* An array with an object for each event: of each part of effort that both runs measured its
 * verdict, difference and, of work, overhead and idleness, the procedures that have more and less.
 */
static void write_changes(struct comparison_printer *printer)
{
    struct json_writer *json = &printer->writer.json;
    struct text event = {0};
    json_put_array(json, "advice");
    for (size_t i = 0; i < printer->changes.n; i++) {
        const struct changes *of_event = &printer->changes.at[i];
        advice_event(of_event->event, &event);
        json_write_object(json);
        json_write_text(json, "event", event.n ? text_string(&event) : NULL);
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            if (of_event->parts[part].verdict != CHANGE_NOT_MEASURED)
                write_part_changes(printer, &of_event->parts[part], (enum efficiency_part)part);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    vec_free(&event);
}

static void print_json(struct comparison_printer *printer)
{
    struct json_writer *json = &printer->writer.json;
    json_write_text(json, "title", session_title(printer->session, NULL));
    write_databases(printer);
    json_put_totals(json, printer->view);
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        write_changed(printer, (enum direction)direction);
    write_changes(printer);
    json_put_metrics(json, "metric_states", printer->view->metrics);
}

/* Chooses the metric by whose difference procedures are listed. */
static bool choose_metric(struct comparison_printer *printer, const char *wanted)
{
    struct sorting sorting = printer->view->sorting;
    if (!print_sorting(printer->session, printer->view->metrics, wanted, &sorting))
        return false;
    const struct metric *sorted = &printer->view->metrics->at[sorting.metric];
    if (!metric_is_compared(sorted)) {
        diag_error("--sort", "the summary compares what was measured, not '%s'", sorted->name);
        return false;
    }
    printer->metric = sorted->compared.sides[0];
    return true;
}

int print_comparison(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(struct comparison_printer *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_JSON] = print_json};
    struct comparison_printer printer = {.session = session,
                                         .comparison = comparison_of(view),
                                         .view = view,
                                         .projection = options->projection};
    if (!choose_metric(&printer, options->sort))
        return 2;
    /* Top-down, a runtime's procedures stand for the procedures that call them. */
    printer.topdown = session_view(session, options->projection, TOP_DOWN);
    if (!printer.topdown)
        return 1;
    printer.changes = changes_of(printer.topdown, 0);
    find_changed(&printer);
    writer_open(&printer.writer, options->format, out);
    if (options->width)
        printer.writer.width = options->width;
    printers[options->format](&printer);
    writer_free(&printer.writer);
    vec_free(&printer.changes);
    return 0;
}
