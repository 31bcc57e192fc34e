/* The source pane, and the commands for it. */
#include "viewer-tui/terminal/screens/source-pane.h"
#include "viewer-tui/terminal/screens/commands.h"

#include "lib/number.h"
#include "viewer-tui/base/shorten.h"
#include "viewer-tui/terminal/editor.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/line-costs.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns left of the code: cost of the line in percent, and signs. */
#define PERCENT_COLUMNS 7
#define MARGIN_COLUMNS  (PERCENT_COLUMNS + 4)

/* Columns of the line number and the mark of the row's line. */
#define NUMBER_COLUMNS 9

/* Columns that the code and its line numbers keep before there is a margin with costs. */
#define LEAST_CODE_COLUMNS 40

/* Signs of lines that begin a loop, and of lines with calls. */
#define SIGN_LOOP          "↻"
#define SIGN_LOOP_IN_ASCII "@"
#define SIGN_CALL          "»"
#define SIGN_CALL_IN_ASCII "*"

/* Sign of a line that continues beyond the edge of the screen. */
#define SIGN_MORE          "…"
#define SIGN_MORE_IN_ASCII ">"

/* Selects the place that the pane shows: where the row is declared, or where it is called. Callers
 * in the bottom-up view are shown at their calls, unless the user switched to the other place. */
static void select_place(struct tui *tui, struct shown_source *shown)
{
    uint32_t number = pane_row(tui_pane(tui));
    shown->view = view_origin(tui_pane(tui)->view, &number);
    const struct row *row = view_row(shown->view, number);
    bool is_caller = shown->view->class->shows_callers && row->depth > 1;
    bool wants_call = (tui->shows_call_site != is_caller) || tui->source_scroll.at_call;
    shown->is_call = wants_call && row->call_line;
    if (shown->is_call) {
        shown->file = row->call_file;
        shown->line = row->call_line;
    } else {
        label_place(shown->view, number, &shown->file, &shown->line);
    }
    shown->source = sources_get(&tui->sources, shown->view->db, shown->file);
}

/* Finds the costs of the lines. Those around a call belong to the caller, the row above. */
static void find_costs(struct tui *tui, struct shown_source *shown)
{
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    bool is_in_row_above = shown->is_call && !pane->view->class->shows_callers;
    if (is_in_row_above)
        row = view_row(pane->view, row)->parent;
    shown->costs.n = 0;
    if (shown->source->n_lines)
        line_costs_find(&shown->costs, pane->view, row, shown->file);
}

static enum scope_kind row_kind(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    return view_row(pane->view, pane_row(pane))->kind;
}

/* Selects the line with the largest cost in place of the one that declares a procedure. */
static void select_hottest_line(struct shown_source *shown, enum scope_kind kind)
{
    double most = 0;
    if (kind != KIND_PROCEDURE && kind != KIND_INLINED)
        return;
    for (size_t i = 0; i < shown->costs.n; i++) {
        if (shown->costs.at[i].cost <= most)
            continue;
        most = shown->costs.at[i].cost;
        shown->line = shown->costs.at[i].line;
    }
}

void tui_prepare_source(struct tui *tui)
{
    if (!tui->source)
        tui->source = mem_alloc(sizeof *tui->source);
    select_place(tui, tui->source);
    find_costs(tui, tui->source);
    if (tui->source_scroll.at_hottest && !tui->source->is_call)
        select_hottest_line(tui->source, row_kind(tui));
    text_clear(&tui->source->missing);
    if (tui->source->source->n_lines == 0)
        tui_explain_missing(tui, tui->source, &tui->source->missing);
}

size_t tui_source_lines(const struct tui *tui)
{
    size_t width = screen_width() > 8 ? (size_t)screen_width() - 8 : 1;
    if (!tui->source)
        return 0;
    return tui->source->source->n_lines
               ? tui->source->source->n_lines
               : text_columns(text_string(&tui->source->missing)) / width + 2;
}

void tui_free_source(struct tui *tui)
{
    if (!tui->source)
        return;
    vec_free(&tui->source->costs);
    vec_free(&tui->source->missing);
    free(tui->source);
}

/* Draws the metric of the margin on the right of the title; returns the columns used. */
static int draw_metric(const struct tui *tui, struct area area)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    struct text text = {0};
    size_t metric = view->sorting.metric, whole = metrics_whole(view->metrics, metric);
    text_add(&text, " ");
    text_add_clean(&text, view->metrics->at[metric].name, tui->ascii);
    text_printf(&text, ", %s, %% of ", view->sorting.part == INCLUSIVE ? "inclusive" : "exclusive");
    text_add_clean(&text, view->metrics->at[whole].name, tui->ascii);
    text_add(&text, " ");
    int columns = (int)text_columns(text_string(&text));
    bool fits = columns + 2 < area.width / 2;
    if (fits)
        screen_put(area.line, area.column + area.width - columns - 2, columns, STYLE_PLAIN,
                   text_string(&text));
    vec_free(&text);
    return fits ? columns + 2 : 0;
}

/* Adds "FILE:LINE ", shortened to a number of columns if possible. */
static void add_place(const struct tui *tui, const char *path, uint32_t line, int columns,
                      struct text *out)
{
    struct text clean = {0}, behind = {0};
    text_add_clean(&clean, path, tui->ascii);
    if (line)
        text_printf(&behind, ":%u", line);
    if (tui->source_scroll.columns)
        text_printf(&behind, ", from column %ld", tui->source_scroll.columns + 1);
    text_add(&behind, " ");
    int room = columns - (int)behind.n;
    shorten_path(text_string(&clean), room > 0 ? (size_t)room : 0, tui->ascii, out);
    text_add(out, text_string(&behind));
    vec_free(&clean);
    vec_free(&behind);
}

static void draw_title(const struct tui *tui, struct area area, const struct shown_source *shown)
{
    struct text title = {0};
    const char *path = database_file_path(shown->view->db, shown->file);
    screen_rule(area.line, area.column, area.width);
    int used = shown->costs.n ? draw_metric(tui, area) : 0;
    if (!path)
        text_add(&title, " no source file is known ");
    else if (shown->source->n_lines == 0)
        text_add(&title, " no source: ");
    else
        text_add(&title, " ");
    int room = area.width - 4 - used;
    if (path)
        add_place(tui, path, shown->line, room - (int)title.n, &title);
    screen_put(area.line, area.column + 2, room, STYLE_PLAIN, text_string(&title));
    vec_free(&title);
}

static void draw_percent(const struct tui *tui, const struct line_cost *cost, struct area area,
                         bool is_marked)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    double whole = view_whole(view, view->sorting.metric);
    char percent[NUMBER_SIZE];
    const struct metric *metric = &view->metrics->at[view->sorting.metric];
    if (!cost || cost->cost == 0 || whole == 0 || metric->is_ratio)
        return;
    columns_percent(metric, cost->cost, whole, percent);
    struct text text = {0};
    text_add_right(&text, percent, PERCENT_COLUMNS - 1);
    text_add(&text, "%");
    screen_put(area.line, area.column, PERCENT_COLUMNS,
               is_marked ? STYLE_SELECTED : screen_heat(cost->cost / whole), text_string(&text));
    vec_free(&text);
}

/* Draws the percentage and the signs for loops and calls. */
static void draw_margin(const struct tui *tui, const struct shown_source *shown, uint32_t line,
                        struct area area)
{
    const struct line_cost *cost = line_costs_of(&shown->costs, line);
    bool is_marked = line == shown->line;
    enum style style = is_marked ? STYLE_SELECTED : STYLE_PLAIN;
    int at = area.column + PERCENT_COLUMNS + 1;
    draw_percent(tui, cost, area, is_marked);
    if (cost && cost->begins_loop)
        screen_put(area.line, at, 1, style, tui->ascii ? SIGN_LOOP_IN_ASCII : SIGN_LOOP);
    if (cost && cost->calls)
        screen_put(area.line, at + 1, 1, style, tui->ascii ? SIGN_CALL_IN_ASCII : SIGN_CALL);
}

static bool has_margin(int width)
{
    return width >= MARGIN_COLUMNS + LEAST_CODE_COLUMNS;
}

/* Number of columns for the code. */
static long code_room(int width)
{
    long room = width - NUMBER_COLUMNS - (has_margin(width) ? MARGIN_COLUMNS : 0);
    return room > 0 ? room : 0;
}

/* Number of columns of a line of code. */
static long columns_of(const struct tui *tui, const struct source *source, uint32_t line)
{
    struct text code = {0}, clean = {0};
    text_add_expanded(&code, source_line(source, line));
    text_add_clean_code(&clean, text_string(&code), tui->ascii);
    long columns = (long)text_columns(text_string(&clean));
    vec_free(&code);
    vec_free(&clean);
    return columns;
}

/* Draws a piece of code of one kind without its first *hidden columns, and reduces *hidden by the
 * columns left out. Returns the columns used. */
static int draw_piece(const struct tui *tui, const struct text *code, size_t from, size_t to,
                      size_t *hidden, struct area area, enum style style)
{
    struct text piece = {0}, clean = {0};
    text_add_bytes(&piece, code->at + from, to - from);
    text_add_clean_code(&clean, text_string(&piece), tui->ascii);
    size_t columns = text_columns(text_string(&clean));
    const char *shown = text_skip(text_string(&clean), *hidden);
    *hidden -= *hidden < columns ? *hidden : columns;
    int used = screen_put(area.line, area.column, area.width, style, shown);
    vec_free(&piece);
    vec_free(&clean);
    return used;
}

static void draw_code(const struct tui *tui, const struct source *source, uint32_t line,
                      struct area area, bool is_marked)
{
    static const enum style styles[] = {
        [SYNTAX_CODE] = STYLE_PLAIN,      [SYNTAX_COMMENT] = STYLE_COMMENT,
        [SYNTAX_STRING] = STYLE_STRING,   [SYNTAX_NUMBER] = STYLE_NUMBER,
        [SYNTAX_KEYWORD] = STYLE_KEYWORD, [SYNTAX_DIRECTIVE] = STYLE_DIRECTIVE};
    struct text code = {0};
    size_t hidden = (size_t)tui->source_scroll.columns;
    int edge = area.column + area.width;
    long room = area.width;
    text_add_expanded(&code, source_line(source, line));
    uint8_t *kinds = mem_alloc(code.n + 1); /* SYNTAX_CODE */
    if (source->syntax)
        syntax_line(source->syntax, source->states[line - 1], text_string(&code), kinds);
    for (size_t from = 0, to; from < code.n && area.width > 0; from = to) {
        for (to = from + 1; to < code.n && kinds[to] == kinds[from];)
            to++;
        enum style style = is_marked ? STYLE_SELECTED : styles[kinds[from]];
        int used = draw_piece(tui, &code, from, to, &hidden, area, style);
        area.column += used;
        area.width -= used;
    }
    if (columns_of(tui, source, line) > tui->source_scroll.columns + room)
        screen_put(area.line, edge - 1, 1, is_marked ? STYLE_SELECTED : STYLE_DIM,
                   tui->ascii ? SIGN_MORE_IN_ASCII : SIGN_MORE);
    free(kinds);
    vec_free(&code);
}

static void draw_line(const struct tui *tui, const struct shown_source *shown, uint32_t line,
                      struct area area)
{
    struct text number = {0};
    bool is_marked = line == shown->line;
    if (is_marked)
        screen_fill(area.line, area.column, area.width, STYLE_SELECTED);
    if (has_margin(area.width)) {
        draw_margin(tui, shown, line, area);
        area.column += MARGIN_COLUMNS;
        area.width -= MARGIN_COLUMNS;
    }
    text_printf(&number, "%6u %s ", line, is_marked ? ">" : " ");
    int used = screen_put(area.line, area.column, area.width,
                          is_marked ? STYLE_SELECTED : STYLE_PLAIN, text_string(&number));
    area.column += used;
    area.width -= used;
    draw_code(tui, shown->source, line, area, is_marked);
    vec_free(&number);
}

/* The first line on the screen: the marked one is in the middle, scrolled as far as there are
 * lines. */
static uint32_t first_line(struct tui *tui, const struct source *source, uint32_t marked,
                           int height)
{
    long last = (long)source->n_lines - height + 1;
    long centered = (long)marked - height / 2;
    long first = centered + tui->source_scroll.lines;
    if (first > last)
        first = last;
    if (first < 1)
        first = 1;
    if (centered >= 1 && centered <= last)
        tui->source_scroll.lines = first - centered;
    return (uint32_t)first;
}

/* Limits scrolling to the right to the end of the longest line on the screen. */
static void limit_columns(struct tui *tui, const struct source *source, uint32_t first,
                          struct area area)
{
    long longest = 0;
    for (uint32_t i = 0; i + 1 < (uint32_t)area.height && first + i <= source->n_lines; i++) {
        long columns = columns_of(tui, source, first + i);
        longest = columns > longest ? columns : longest;
    }
    long most = longest - code_room(area.width);
    if (tui->source_scroll.columns > most)
        tui->source_scroll.columns = most;
    if (tui->source_scroll.columns < 0)
        tui->source_scroll.columns = 0;
}

void tui_place_source(struct tui *tui, struct area area)
{
    struct shown_source *shown = tui->source;
    shown->first = first_line(tui, shown->source, shown->line, area.height - 1);
    limit_columns(tui, shown->source, shown->first, area);
}

void tui_draw_source(const struct tui *tui, struct area area)
{
    const struct shown_source *shown = tui->source;
    size_t n_lines = shown->source->n_lines;
    struct area line = {area.line + 1, area.column, 1, area.width};
    const char *path = database_file_path(shown->view->db, shown->file);
    if (n_lines || !tui_draw_tag_title(tui, area, path))
        draw_title(tui, area, shown);
    if (n_lines == 0)
        page_draw_paragraph((struct area){line.line, line.column, area.height - 1, line.width},
                            text_string(&shown->missing));
    for (uint32_t i = 0; i + 1 < (uint32_t)area.height && shown->first + i <= n_lines;
         i++, line.line++)
        draw_line(tui, shown, shown->first + i, line);
}

/* Opens the original file if it exists: changes in the database's copy would be lost. */
static void edit(struct tui *tui)
{
    struct text problem = {0};
    tui_prepare_source(tui);
    const struct shown_source *shown = tui->source;
    char *original = source_original(tui->session->rules, shown->view->db, shown->file);
    const char *path = original ? original : shown->source->path;
    if (path) {
        screen_suspend();
        editor_run(path, shown->line, &problem);
        screen_resume();
        text_add_clean(&tui->message, text_string(&problem), tui->ascii);
    } else {
        text_add(&tui->message, "no source file to edit");
    }
    free(original);
    vec_free(&problem);
}

/* Scrolls by half the width of the code. */
static void scroll_sideways(struct tui *tui, int direction)
{
    long step = code_room(tui->layout.source.width) / 2;
    tui->source_scroll.columns += direction * (step > 0 ? step : 1);
}

static void go_to_own_call(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    const struct view *origin = view_origin(pane->view, &row);
    tui->shows_source = true;
    if (!tui_go_to_own_call(tui))
        text_add(&tui->message, origin->class == &topdown_class
                                    ? "no line of yours leads to this row, or it has one itself"
                                    : "only in the top-down view, which has callers above");
}

bool tui_obey_source(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_SOURCE: tui->shows_source = !tui->shows_source; break;
    case COMMAND_CALL_SITE:
        tui->shows_call_site = !tui->shows_call_site && !tui->source_scroll.at_call;
        tui->source_scroll = (struct source_scroll){0};
        break;
    case COMMAND_OWN_CALL: go_to_own_call(tui); break;
    case COMMAND_SOURCE_UP: tui->source_scroll.lines--; break;
    case COMMAND_SOURCE_DOWN: tui->source_scroll.lines++; break;
    case COMMAND_SOURCE_RIGHT: scroll_sideways(tui, 1); break;
    case COMMAND_SOURCE_LEFT: scroll_sideways(tui, -1); break;
    case COMMAND_EDIT: edit(tui); break;
    default: return false;
    }
    return true;
}
