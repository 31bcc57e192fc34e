#include "viewer-tui/output/timeline-lines.h"

#include "viewer-tui/base/shorten.h"
#include "viewer-tui/tree/labels.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Columns left of the cells: room for the names of the strip and their values; not more than a third of the line. */
#define LEAST_LABEL   19
#define VALUE_COLUMNS 8

/* Most columns of a procedure's name in the legend. */
#define MOST_NAME_COLUMNS 24

size_t timeline_label_width(const struct open_timeline *open, size_t width)
{
    size_t widest = LEAST_LABEL - 1, most = width / 3;
    for (size_t row = 0; row < open->chart.rows.rows.n; row++) {
        autofree struct text label = {0};
        timeline_add_row(open, row, true, &label);
        widest = label.n > widest ? label.n : widest;
    }
    widest = widest + 1 > most ? most : widest + 1;
    return widest > LEAST_LABEL ? widest : LEAST_LABEL;
}

void timeline_line_label(const struct timeline_lines *lines, size_t row, struct text *out)
{
    autofree struct text label = {0};
    timeline_add_row(lines->open, row, lines->ascii, &label);
    shorten_middle(&label, lines->label_width - 1, lines->ascii);
    text_add(out, text_string(&label));
    text_pad(out, ' ', lines->label_width - text_columns(text_string(&label)));
}

double timeline_column_length(const struct timeline_lines *lines)
{
    const struct time_window *window = &lines->open->chart.window;
    return lines->open->timeline->is_time ? (double)(window->end - window->begin) / window->n : 1;
}

size_t timeline_strip_lines(const struct timeline_lines *lines)
{
    return lines->open->timeline->is_time ? STRIP_LINES : STRIP_LINES - 1;
}

double timeline_strip_value(const struct timeline_lines *lines, size_t line, size_t column)
{
    const struct time_cell *cell = &time_chart_strip(&lines->open->chart)[column];
    double amount = line + 1 == STRIP_LINES ? cell->cpu : shown_state_amount(cell, (enum shown_state)line);
    return amount / timeline_column_length(lines);
}

bool timeline_strip_label(const struct timeline_lines *lines, size_t line, struct text *out)
{
    unsigned n = lines->open->chart.window.n;
    double sum = 0;
    for (unsigned column = 0; column < n; column++)
        sum += timeline_strip_value(lines, line, column);
    bool is_shown = sum > 0 && line < timeline_strip_lines(lines);
    if (is_shown)
        text_printf(out, "%-*s%*.2f ", (int)lines->label_width - VALUE_COLUMNS, strip_lines[line].name,
                    VALUE_COLUMNS - 1, sum / n);
    return is_shown;
}

double timeline_strip_most(const struct timeline_lines *lines)
{
    double most = 0;
    for (unsigned column = 0; column < lines->open->chart.window.n; column++)
        for (size_t line = 0; line < timeline_strip_lines(lines); line++)
            most = fmax(most, timeline_strip_value(lines, line, column));
    return most;
}

struct time_look timeline_look(struct timeline_lines *lines, const struct time_cell *cell)
{
    struct time_look look =
        time_look_of(&lines->open->chart, &lines->letters, cell, timeline_column_length(lines));
    lines->has_symbol[(unsigned char)toupper((unsigned char)look.symbol)] = true;
    return look;
}

static void add_name(const struct timeline_lines *lines, uint32_t procedure, size_t most, struct text *name)
{
    char buffer[NAME_SIZE];
    autofree struct text clean = {0};
    text_add_clean(&clean, database_procedure_name(lines->open->scopes.db, procedure, buffer), lines->ascii);
    shorten_name(text_string(&clean), most, lines->ascii, name);
    text_cut(name, most);
}

/* Whether another procedure of the legend has the same name, as far as `most` columns show. */
static bool name_is_shared(const struct timeline_lines *lines, size_t i, size_t most, const char *name)
{
    bool is_shared = false;
    for (size_t j = 0; j < lines->letters.procedures.n && !is_shared; j++) {
        autofree struct text other = {0};
        add_name(lines, lines->letters.procedures.at[j], most, &other);
        is_shared = j != i && strcmp(text_string(&other), name) == 0;
    }
    return is_shared;
}

/* Adds a name; if others are the same, longer and with its place: "<listcomp> (app.py:12)". */
static void add_procedure(const struct timeline_lines *lines, size_t i, struct text *name)
{
    struct database *db = lines->open->scopes.db;
    uint32_t id = lines->letters.procedures.at[i];
    struct procedure procedure = database_procedure(db, id);
    autofree struct text place = {0};
    add_name(lines, id, MOST_NAME_COLUMNS, name);
    if (!name_is_shared(lines, i, MOST_NAME_COLUMNS, text_string(name)))
        return;
    text_clear(name);
    add_name(lines, id, 2 * MOST_NAME_COLUMNS, name);
    if (procedure.file == NOTHING || !name_is_shared(lines, i, 2 * MOST_NAME_COLUMNS, text_string(name)))
        return;
    label_file_line(db, procedure.file, procedure.line, &place);
    text_say(name, lines->ascii, " (%s)", text_string(&place));
}

bool timeline_legend(const struct timeline_lines *lines, size_t *at, char *symbol, enum time_color *color,
                     struct text *name)
{
    static const struct state_look others = {"other procedures", '*', TIME_GRAY};
    const struct state_look *const rest[] = {&others, &state_looks[SHOWN_IDLE], &state_looks[SHOWN_OTHER]};
    bool has_states = !lines->open->chart.depth;
    size_t n = has_states ? 0 : lines->letters.procedures.n, end = has_states ? SHOWN_STATES : n + 3;
    text_clear(name);
    while (*at < end) {
        size_t i = (*at)++;
        const struct state_look *look = i < n ? NULL : has_states ? &state_looks[i] : rest[i - n];
        *symbol = look ? look->symbol : procedure_letter(i);
        *color = look ? look->color : procedure_color(i);
        if (!has_states && !lines->has_symbol[(unsigned char)*symbol])
            continue;
        if (look)
            text_add(name, look->name);
        else
            add_procedure(lines, i, name);
        return true;
    }
    return false;
}

void timeline_add_title(const struct timeline_lines *lines, size_t most, struct text *out)
{
    const struct time_chart *chart = &lines->open->chart;
    uint64_t length = chart->window.end - chart->window.begin, step = timeline_tick_step(length, 1000);
    autofree struct text cells = {0}, width = {0};
    size_t begin = out->n;
    timeline_add_time(chart->window.begin, step, out);
    text_add(out, " to ");
    timeline_add_time(chart->window.end, step, out);
    text_add(out, " of ");
    timeline_add_time(chart->timeline->end, timeline_tick_step(chart->timeline->end, 1000), out);
    if (chart->depth)
        text_printf(&cells, ", depth %u", chart->depth);
    else
        text_add(&cells, ", states");
    text_add(&width, ", a column is ");
    uint64_t column = length / chart->window.n;
    timeline_add_time(column, timeline_tick_step(column, 100), &width);
    if (chart->depth || out->n - begin + cells.n + width.n <= most)
        text_add(out, text_string(&cells));
    if (out->n - begin + width.n <= most)
        text_add(out, text_string(&width));
}
