#include "viewer-tui/output/timeline-lines.h"

#include "viewer-tui/base/shorten.h"

#include <math.h>
#include <stdlib.h>

/* Columns left of the cells: room for the names of the strip and their values; not more than a third of the line. */
#define LEAST_LABEL   19
#define VALUE_COLUMNS 8

/* Most columns of a procedure's name in the legend. */
#define MOST_NAME_COLUMNS 24

size_t timeline_label_width(const struct open_timeline *open, size_t width)
{
    size_t widest = LEAST_LABEL - 1, most = width / 3;
    for (size_t row = 0; row < open->chart.rows.rows.n; row++) {
        struct text label = {0};
        timeline_add_row(open, row, true, &label);
        widest = label.n > widest ? label.n : widest;
        vec_free(&label);
    }
    widest = widest + 1 > most ? most : widest + 1;
    return widest > LEAST_LABEL ? widest : LEAST_LABEL;
}

void timeline_line_label(const struct timeline_lines *lines, size_t row, struct text *out)
{
    struct text label = {0};
    timeline_add_row(lines->open, row, lines->ascii, &label);
    size_t columns = text_columns(text_string(&label)), room = lines->label_width - 1;
    const char *shown = text_skip(text_string(&label), columns > room ? columns - room : 0);
    text_add(out, shown);
    text_pad(out, ' ', lines->label_width - text_columns(shown));
    vec_free(&label);
}

double timeline_column_length(const struct timeline_lines *lines)
{
    const struct time_chart *chart = &lines->open->chart;
    return chart->timeline->is_time ? (double)(chart->window.end - chart->window.begin) / chart->window.n : 1;
}

bool timeline_strip_label(const struct timeline_lines *lines, size_t line, struct text *out)
{
    struct time_chart *chart = &lines->open->chart;
    const struct time_cell *strip = time_chart_strip(chart);
    double sum = 0;
    for (unsigned column = 0; column < chart->window.n; column++)
        sum += strip_value(line, &strip[column], timeline_column_length(lines));
    text_printf(out, "%-*s%*.2f ", (int)lines->label_width - VALUE_COLUMNS, strip_lines[line].name, VALUE_COLUMNS - 1,
                sum / chart->window.n);
    return sum > 0;
}

double timeline_strip_most(const struct timeline_lines *lines)
{
    struct time_chart *chart = &lines->open->chart;
    const struct time_cell *strip = time_chart_strip(chart);
    double most = 0;
    for (unsigned column = 0; column < chart->window.n; column++)
        for (size_t line = 0; line < STRIP_LINES; line++)
            most = fmax(most, strip_value(line, &strip[column], timeline_column_length(lines)));
    return most;
}

bool timeline_legend(const struct timeline_lines *lines, size_t i, char *symbol, enum time_color *color,
                     struct text *name)
{
    const struct time_chart *chart = &lines->open->chart;
    text_clear(name);
    if (!chart->depth && i >= SHOWN_STATES)
        return false;
    if (!chart->depth || i >= lines->letters.procedures.n) {
        static const enum shown_state without_place[] = {SHOWN_IDLE, SHOWN_OTHER};
        size_t rest = i - lines->letters.procedures.n;
        if (chart->depth && rest >= 2)
            return false;
        const struct state_look *look = &state_looks[chart->depth ? without_place[rest] : (enum shown_state)i];
        *symbol = look->symbol;
        *color = look->color;
        text_add(name, look->name);
        return true;
    }
    char buffer[NAME_SIZE];
    struct text clean = {0};
    const char *of = database_procedure_name(lines->open->scopes.db, lines->letters.procedures.at[i], buffer);
    text_add_clean(&clean, of, lines->ascii);
    shorten_name(text_string(&clean), MOST_NAME_COLUMNS, lines->ascii, name);
    text_cut(name, MOST_NAME_COLUMNS);
    vec_free(&clean);
    *symbol = procedure_letter(i);
    *color = procedure_color(i);
    return true;
}

void timeline_add_title(const struct timeline_lines *lines, struct text *out)
{
    const struct time_chart *chart = &lines->open->chart;
    uint64_t length = chart->window.end - chart->window.begin, step = timeline_tick_step(length, 1000);
    timeline_add_time(chart->window.begin, step, out);
    text_add(out, " to ");
    timeline_add_time(chart->window.end, step, out);
    text_add(out, " of ");
    timeline_add_time(chart->timeline->end, timeline_tick_step(chart->timeline->end, 1000), out);
    if (chart->depth)
        text_printf(out, ", depth %u", chart->depth);
    else
        text_add(out, ", states");
    text_add(out, ", a column is ");
    uint64_t column = length / chart->window.n;
    timeline_add_time(column, timeline_tick_step(column, 100), out);
}
