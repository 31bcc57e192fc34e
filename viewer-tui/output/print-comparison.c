/* The summary of a comparison: both runs side by side, what changed (changes.h), and the procedures
 * whose own costs differ most; as text, as Markdown for the log of a build server, or as JSON. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/table/table.h"
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

/* A line of text: a number for each column, and what it is of. */
struct comparison_line {
    struct number_text columns[MERGED_COLUMNS], percent; /* of the difference */
    char *what;                                          /* owned */
};

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
    table_columns columns;
    VEC(struct comparison_line) lines; /* of the table in the making */
};

/* Numbers of each run. */
static const char *const fact_names[] = {"processes", "workers", "problems"};
#define FACTS 3

static double fact_of(const struct merged_runs *comparison, size_t fact, int side)
{
    const json_t *run = merged_first_run(comparison, (size_t)side)->run;
    return fact == 1 ? comparison_workers(comparison, side)
                     : (double)json_array_size(json_object_get(run, fact_names[fact]));
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

static void make_columns(struct comparison_printer *printer)
{
    for (int c = 0; c < MERGED_COLUMNS; c++) {
        autofree struct text title = {0};
        size_t place = offsetof(struct comparison_line, columns) + (size_t)c * sizeof(struct number_text);
        text_add_clean(&title, comparison_column(printer->comparison, (enum merged_column)c), printer->writer.ascii);
        text_cut(&title, COLUMN - 1);
        vec_push(&printer->columns, (struct table_column){mem_strdup(text_string(&title)), .kind = OF_CHARS,
                                                          .place = place, .width = COLUMN, .is_made = true});
        place = offsetof(struct comparison_line, percent);
        if (c == MERGED_DIFFERENCE)
            vec_push(&printer->columns, (struct table_column){"", .kind = OF_CHARS, .place = place, .width = PERCENT});
    }
    vec_push(&printer->columns,
             (struct table_column){"", .kind = OF_TEXT, .place = offsetof(struct comparison_line, what)});
}

/* Writes the lines as a table, and gives them up. Text has column titles above the first table only. */
static void write_lines(struct comparison_printer *printer, bool has_titles)
{
    struct data_table table = {printer->columns.at, printer->columns.n, printer->lines.at, sizeof *printer->lines.at,
                               printer->lines.n, NULL};
    if (has_titles || printer->writer.format == FORMAT_MARKDOWN)
        table_write(&table, &printer->writer, NULL, table.n_rows);
    else
        table_write_lines(&table, &printer->writer, 0, table.n_rows, false);
    while (printer->lines.n)
        free(printer->lines.at[--printer->lines.n].what);
}

/* Adds the numbers of a row; takes the text. */
static void add_costs(struct comparison_printer *printer, uint32_t row, size_t metric, enum cost_part part,
                      struct text *what)
{
    const struct view *view = printer->view;
    double difference = view_cost(view, row, metric + MERGED_DIFFERENCE, part);
    struct comparison_line line = {.what = what->at};
    for (size_t c = 0; c < MERGED_COLUMNS; c++)
        line.columns[c] = columns_with_unit(view, metric + c, view_cost(view, row, metric + c, part));
    if (isfinite(difference) && difference != 0)
        line.percent = number_percent(difference, view_whole(view, metric + MERGED_DIFFERENCE));
    if (*line.percent.text)
        strcat(line.percent.text, "%");
    vec_push(&printer->lines, line);
}

static void add_metrics(struct comparison_printer *printer)
{
    const struct metrics *metrics = printer->view->metrics;
    metrics_each (m, metrics, metrics_shown) {
        if (!metric_is_compared(&metrics->at[m]) || metrics->at[m].compared.column != MERGED_LEFT)
            continue;
        autofree char *name = comparison_metric_name(&metrics->at[m]);
        const char *why = metrics->at[m + MERGED_DIFFERENCE].why;
        struct text what = {0};
        text_say(&what, printer->writer.ascii, "%s%s%s", name, why ? ": " : "", why ? why : "");
        add_costs(printer, 0, m, INCLUSIVE, &what);
    }
}

static void print_changed(struct comparison_printer *printer, enum direction direction)
{
    bool ascii = printer->writer.ascii;
    autofree char *metric = comparison_metric_name(&printer->view->metrics->at[printer->metric]);
    autofree struct text heading = {0};
    if (!printer->n_changed[direction])
        return;
    text_say(&heading, ascii, "Procedures whose own %s %s most", metric, change_names[direction]);
    writer_heading(&printer->writer, text_string(&heading));
    for (size_t i = 0; i < printer->n_changed[direction]; i++) {
        uint32_t row = printer->changed[direction][i];
        struct text what = {0}, place = {0};
        describe_name(printer->view, row, ascii, &what);
        describe_location(printer->view, row, ascii, &place);
        text_printf(&what, "%s%s", place.n ? "  " : "", text_string(&place));
        add_costs(printer, row, printer->metric, EXCLUSIVE, &what);
        vec_free(&place);
    }
    write_lines(printer, false);
}

/* In Markdown, what is no table is between two of these. */
static void fence(struct comparison_printer *printer)
{
    if (printer->writer.format == FORMAT_MARKDOWN)
        writer_line(&printer->writer, "```");
}

static void print_text(struct comparison_printer *printer)
{
    struct writer *writer = &printer->writer;
    make_columns(printer);
    fence(printer);
    writer_run_line(writer, printer->session, NULL);
    writer_line(writer, "comparison, %s projection%s", projection_name(printer->projection),
                session_folding_words(printer->session));
    fence(printer);
    writer_end_line(writer);
    for (size_t i = 0; i < FACTS; i++) {
        struct comparison_line line = {.what = mem_strdup(fact_names[i])};
        for (int side = 0; side < SIDES; side++)
            line.columns[side] = number_grouped((uint64_t)fact_of(printer->comparison, i, side));
        vec_push(&printer->lines, line);
    }
    add_metrics(printer);
    write_lines(printer, true);
    writer_end_line(writer);
    fence(printer);
    comparison_explain(printer->comparison, &writer->line);
    writer_end_line(writer);
    struct advice_lines lines = {.width = ADVICE_WIDTH, .ascii = writer->ascii};
    changes_describe(&printer->changes, printer->topdown, 0, &lines);
    advice_lines_print(&lines, writer->out);
    fence(printer);
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        print_changed(printer, (enum direction)direction);
    table_columns_free(&printer->columns);
    vec_free(&printer->lines);
}

/* ---- JSON ---- */

static void write_databases(struct comparison_printer *printer)
{
    struct json_writer *json = &printer->writer.json;
    json_print(json, "databases:[");
    for (int side = 0; side < SIDES; side++) {
        size_t first = merged_group_first(printer->comparison, (size_t)side);
        json_print(json, "{name:%s path:%s", comparison_name(printer->comparison, side),
                   printer->session->runs.at[first].folder);
        if (merged_is_of_repeats(printer->comparison))
            json_print(json, "runs:%zu", merged_group_size(printer->comparison, (size_t)side));
        for (size_t i = 0; i < FACTS; i++)
            json_print(json, "%s:%g", fact_names[i], fact_of(printer->comparison, i, side));
        json_print(json, "}");
    }
    json_print(json, "]");
}

static void write_changed(struct comparison_printer *printer, enum direction direction)
{
    const struct view *view = printer->view;
    struct json_writer *json = &printer->writer.json;
    json_print(json, "%s:[", change_names[direction]);
    for (size_t i = 0; i < printer->n_changed[direction]; i++) {
        uint32_t row = printer->changed[direction][i];
        autofree char *name = label_copy(view, row);
        json_print(json, "{name:%s", name);
        for (size_t m = printer->metric; m < printer->metric + MERGED_COLUMNS; m++)
            json_put_cost(json, view->metrics->at[m].name, &view->metrics->at[m],
                          view_cost(view, row, m, EXCLUSIVE));
        json_print(json, "}");
    }
    json_print(json, "]");
}

static void write_both(struct comparison_printer *printer, const struct costs_of_both *costs)
{
    struct json_writer *json = &printer->writer.json;
    for (int side = 0; side < SIDES; side++)
        json_print(json, "%s:%g", comparison_name(printer->comparison, side), costs->sides[side]);
    json_print(json, "%s:%g", comparison_column(printer->comparison, MERGED_DIFFERENCE),
                    costs->difference);
    if (merged_is_of_repeats(printer->comparison))
        json_print(json, "%s:%g", comparison_column(printer->comparison, MERGED_UNCERTAINTY), costs->uncertainty);
}

static void write_hotspots(struct comparison_printer *printer, const char *key,
                           const struct changed_hotspots *hotspots)
{
    struct json_writer *json = &printer->writer.json;
    char buffer[NAME_SIZE];
    json_print(json, "%s:[", key);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct changed_hotspot *changed = &hotspots->at[i];
        const struct hotspot *of = &changed->hotspot;
        json_print(json, "{name:%s",
                   of->procedure == NOTHING ? "" : database_procedure_name(changed->db, of->procedure, buffer));
        json_put_place(json, database_file_path(changed->db, of->at.file), of->at.line);
        write_both(printer, &changed->costs);
        json_print(json, "}");
    }
    json_print(json, "]");
}

/* An array with an object for each event: of each part of effort that both runs measured its
 * verdict, difference and, of work, overhead and idleness, the procedures that have more and less.
 */
static void write_changes(struct comparison_printer *printer)
{
    struct json_writer *json = &printer->writer.json;
    autofree struct text event = {0};
    json_print(json, "advice:[");
    for (size_t i = 0; i < printer->changes.n; i++) {
        const struct changes *of_event = &printer->changes.at[i];
        advice_event(of_event->event, &event);
        json_print(json, "{event:%s", event.n ? text_string(&event) : NULL);
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            if (of_event->parts[part].verdict != CHANGE_NOT_MEASURED) {
                const struct change *change = &of_event->parts[part];
                json_print(json, "%s:{verdict:%s", efficiency_part_name((enum efficiency_part)part),
                           change_verdict_name(change->verdict));
                write_both(printer, &change->costs);
                for (int direction = MORE; part != EFFORT && direction < DIRECTIONS; direction++)
                    write_hotspots(printer, direction_names[direction], &change->hotspots[direction]);
                json_print(json, "}");
            }
        json_print(json, "}");
    }
    json_print(json, "]");
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
        [FORMAT_TEXT] = print_text, [FORMAT_MARKDOWN] = print_text, [FORMAT_JSON] = print_json};
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
    writer_open(&printer.writer, options->format, options->width, out);
    printers[options->format](&printer);
    writer_free(&printer.writer);
    vec_free(&printer.changes);
    return 0;
}
