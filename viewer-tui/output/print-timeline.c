/* The time line of all threads, for people (text, SVG) and for programs (JSON, and the formats of other viewers). */
#include "viewer-tui/output/timeline-lines.h"

#include "lib/diag.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/output/print.h"
#include "viewer-tui/table/table.h"

/* Text has groups of threads if there are more. */
#define MOST_ROWS 64

/* Columns of JSON, and of drawings and the counters of other formats. */
#define DATA_COLUMNS  100
#define FINE_COLUMNS  200
#define DRAWING_LABEL 30

/* ---- text ---- */

static void write_legend(const struct timeline_lines *lines, struct writer *writer)
{
    autofree struct text name = {0};
    char symbol;
    enum time_color color;
    for (size_t at = 0; timeline_legend(lines, &at, &symbol, &color, &name);) {
        size_t used = text_columns(text_string(&writer->line));
        if (used && used + text_columns(text_string(&name)) + 5 > writer->width)
            writer_end_line(writer);
        text_printf(&writer->line, "%s%c %s", writer->line.n ? "   " : "", symbol, text_string(&name));
    }
    if (writer->line.n)
        writer_end_line(writer);
}

static void write_strip(const struct timeline_lines *lines, struct writer *writer)
{
    struct time_chart *chart = &lines->open->chart;
    double most = timeline_strip_most(lines);
    for (size_t line = 0; line < STRIP_LINES; line++) {
        if (!timeline_strip_label(lines, line, &writer->line))
            continue;
        for (unsigned column = 0; column < chart->window.n; column++)
            text_add(&writer->line, time_bar(timeline_strip_value(lines, line, column) / most, lines->ascii));
        text_trim(&writer->line);
        writer_end_line(writer);
    }
}

static void write_text(struct timeline_lines *lines, struct writer *writer)
{
    struct time_chart *chart = &lines->open->chart;
    letters_give(&lines->letters, chart, 0, chart->rows.rows.n);
    text_add(&writer->line, "\nTime line: ");
    timeline_add_title(lines, SIZE_MAX, &writer->line);
    writer_end_line(writer);
    text_pad(&writer->line, ' ', lines->label_width);
    timeline_add_axis(&chart->window, &writer->line);
    writer_end_line(writer);
    write_strip(lines, writer);
    writer_end_line(writer);
    for (size_t row = 0; row < chart->rows.rows.n; row++) {
        const struct time_cell *cells = time_chart_cells(chart, row);
        timeline_line_label(lines, row, &writer->line);
        for (unsigned column = 0; column < chart->window.n; column++)
            text_printf(&writer->line, "%c", timeline_look(lines, &cells[column]).symbol);
        text_trim(&writer->line);
        writer_end_line(writer);
    }
    writer_end_line(writer);
    write_legend(lines, writer);
    timeline_add_note(lines->open, &writer->line);
    if (writer->line.n)
        writer_end_line(writer);
}

/* ---- JSON ---- */

/* An amount in seconds, or as a count. */
static double amount_of(const struct timeline_lines *lines, double amount)
{
    return lines->open->timeline->is_time ? amount * 1e-9 : amount;
}

static void write_cell_procedures(const struct timeline_lines *lines, const struct time_cell *cells,
                                  struct json_writer *json)
{
    const struct time_chart *chart = &lines->open->chart;
    json_print(json, "procedures:[");
    for (unsigned column = 0; column < chart->window.n; column++) {
        char buffer[NAME_SIZE];
        if (cells[column].value == NOTHING)
            json_write_null(json);
        else
            json_print(json, "{name:%s amount:%g}",
                       database_procedure_name(chart->scopes->db, cells[column].value, buffer),
                       amount_of(lines, cells[column].of_value));
    }
    json_print(json, "]");
}

/* A row; only states that it has. */
static void write_row(const struct timeline_lines *lines, size_t row, struct json_writer *json)
{
    struct time_chart *chart = &lines->open->chart;
    const struct thread_row *of = &chart->rows.rows.at[row];
    const struct time_cell *cells = time_chart_cells(chart, row);
    autofree struct text label = {0};
    timeline_add_row(lines->open, row, false, &label);
    json_print(json, "\n{thread:%s profile:%u step:%u states:{", text_string(&label),
               thread_of_row(&chart->rows, of)->profile, chart->rows.records[of->first]->step);
    for (int state = 1; state < TRACE_STATES; state++) {
        double sum = 0;
        for (unsigned column = 0; column < chart->window.n; column++)
            sum += cells[column].states[state];
        if (sum != 0)
            json_print_numbers(json, trace_states[state].key, column, chart->window.n,
                               amount_of(lines, cells[column].states[state]));
    }
    json_print(json, "}");
    if (chart->depth)
        write_cell_procedures(lines, cells, json);
    json_print(json, "}");
}

static void write_json(struct timeline_lines *lines, struct writer *writer)
{
    struct json_writer *json = &writer->json;
    const struct time_chart *chart = &lines->open->chart;
    const struct timeline *timeline = chart->timeline;
    json_print(json, "event:%s unit:%s epoch:%g from:%g to:%g columns:%u depth:%u", timeline->event,
               timeline->is_time ? "s" : "count", (double)timeline->header.begin * 1e-9,
               (double)chart->window.begin * 1e-9, (double)chart->window.end * 1e-9, chart->window.n, chart->depth);
    json_print(json, "strip:{");
    for (size_t line = 0; line < timeline_strip_lines(lines); line++)
        json_print_numbers(json, strip_lines[line].key, column, chart->window.n,
                           timeline_strip_value(lines, line, column));
    json_print(json, "} threads:[");
    for (size_t row = 0; row < chart->rows.rows.n; row++)
        write_row(lines, row, json);
    json_print(json, "]");
}

/* ---- all formats ---- */

static void write_table(struct timeline_lines *lines, const struct session *session,
                        const struct print_options *options, FILE *out)
{
    struct time_chart *chart = &lines->open->chart;
    struct writer writer;
    writer_open(&writer, options->format, options->width, out);
    writer_head(&writer, session, lines->open->scopes.db, "timeline", options->projection);
    if (options->format == FORMAT_TEXT) {
        lines->ascii = writer.ascii;
        lines->label_width = timeline_label_width(lines->open, writer.width);
        unsigned columns = (unsigned)(writer.width > lines->label_width ? writer.width - lines->label_width : 1);
        time_chart_show(chart, chart->window.begin, chart->window.end, columns);
        write_text(lines, &writer);
    } else {
        write_json(lines, &writer);
    }
    writer_free(&writer);
}

int print_timeline(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    (void)view;
    struct open_timeline open;
    struct timeline_lines lines = {.open = &open, .label_width = DRAWING_LABEL};
    unsigned n = options->format > FORMAT_JSON ? FINE_COLUMNS : DATA_COLUMNS;
    const char *why = open_timeline(&open, session, options->projection, false, n);
    if (why) {
        if (why != problem_text())
            diag_error(session->folder, "%s", why);
        return 1;
    }
    if (options->depth)
        time_chart_set_depth(&open.chart, options->depth);
    if (options->format == FORMAT_TEXT || options->format == FORMAT_SVG)
        time_chart_group(&open.chart, thread_rows_usual(&open.chart.rows, MOST_ROWS));
    const char *title = session_title(session, open.scopes.db);
    if (options->format == FORMAT_SVG)
        print_timeline_svg(&lines, title, out);
    else if (options->format == FORMAT_CHROME)
        print_timeline_chrome(&lines, title, out);
    else
        write_table(&lines, session, options, out);
    vec_free(&lines.letters.procedures);
    close_timeline(&open);
    return 0;
}
