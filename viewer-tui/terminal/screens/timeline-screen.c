/* The time view: a strip of what all threads did, a row for each thread or group, and what the thread at the cursor did
 * then. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/output/timeline-lines.h"
#include "viewer-tui/terminal/prompt.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/pattern.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(TIME_COLORS == SCREEN_TILE_COLORS, "screen.c has as many colors");

/* Lines around the rows: title, axis, and below the rows instant, path, cell, legend, note, keys. */
#define LINES_ABOVE 2
#define LINES_BELOW 6

/* Least height of the screen with the strip, and with the lines below the rows. */
#define HEIGHT_FOR_STRIP 18
#define HEIGHT_FOR_LINES 12

/* Parts of the window that a step over its edge, and a key that moves it, go. */
#define EDGE_PARTS 8
#define PAN_PARTS  2

#define ZOOM 2.0

/* Most columns of the name of what is marked. */
#define MOST_NAME_COLUMNS 40

struct time_page {
    struct open_timeline open;
    struct timeline_lines lines;
    struct scroller scroller;  /* over the rows of the chart */
    unsigned column;           /* the cursor's */
    struct area rows;          /* the cells, without labels */
    struct time_stretch idle;  /* that `i` went to last; end 0: none */
    uint64_t range_begin;      /* NO_TIME: no range is being selected */
    struct text marked;        /* what is marked, for the title */
    bool is_closed;
};

#define NO_TIME UINT64_MAX

static struct time_chart *chart_of(struct tui *tui)
{
    return &tui->time_page->open.chart;
}

static uint64_t cursor_time(const struct time_page *page)
{
    const struct time_window *window = &page->open.chart.window;
    uint64_t begin = time_window_at(window, page->column);
    return begin + (time_window_at(window, page->column + 1) - begin) / 2;
}

static const struct thread_row *selected_row(const struct time_page *page)
{
    return &page->open.chart.rows.rows.at[page->scroller.selected];
}

/* ---- drawing ---- */

static int draw_strip(struct time_page *page, int line)
{
    struct time_chart *chart = &page->open.chart;
    for (size_t i = 0; i < (size_t)screen_height() && page->scroller.top + i < chart->rows.rows.n; i++)
        time_chart_cells(chart, page->scroller.top + i); /* which the strip may be the sum of */
    const struct time_cell *strip = time_chart_strip(chart);
    double length = timeline_column_length(&page->lines), most = timeline_strip_most(&page->lines);
    struct text label = {0};
    for (size_t i = 0; i < STRIP_LINES; i++) {
        text_clear(&label);
        if (!timeline_strip_label(&page->lines, i, &label))
            continue;
        screen_put(line, 0, (int)page->lines.label_width, STYLE_DIM, text_string(&label));
        for (unsigned column = 0; column < chart->window.n; column++)
            screen_put_tile(line, page->rows.column + (int)column, strip_lines[i].color, TIME_COLORS, false,
                            time_bar(strip_value(i, &strip[column], length) / most, page->lines.ascii));
        line++;
    }
    vec_free(&label);
    return line;
}

/* States as blocks whose height is their share, procedures as letters; without color all as symbols. */
static void draw_cell(const struct time_page *page, int line, unsigned column, const struct time_look *look,
                      bool is_at_cursor)
{
    const struct time_chart *chart = &page->open.chart;
    char symbol[2] = {look->symbol};
    bool is_block = screen_has_colors() && !page->lines.ascii && (!chart->depth || chart->marks);
    bool is_letter = screen_has_colors() && !is_block && look->color != TIME_COLORS;
    if (is_at_cursor)
        screen_put(line, page->rows.column + (int)column, 1, STYLE_SELECTED, symbol);
    else
        screen_put_tile(line, page->rows.column + (int)column, look->color, is_block ? look->second : TIME_COLORS,
                        is_letter, is_block ? time_bar(look->share, false) : symbol);
}

static void draw_rows(struct time_page *page)
{
    struct time_chart *chart = &page->open.chart;
    double length = timeline_column_length(&page->lines);
    size_t height = (size_t)page->rows.height, first = page->scroller.top, n = chart->rows.rows.n;
    n = n - first < height ? n - first : height;
    letters_give(&page->lines.letters, chart, first, n);
    for (size_t i = 0; i < n; i++) {
        bool is_selected = first + i == page->scroller.selected;
        int line = page->rows.line + (int)i;
        struct text label = {0};
        timeline_line_label(&page->lines, first + i, &label);
        screen_put(line, 0, page->rows.column - 1, is_selected ? STYLE_SELECTED : STYLE_PLAIN, text_string(&label));
        const struct time_cell *cells = time_chart_cells(chart, first + i);
        for (unsigned column = 0; column < chart->window.n; column++) {
            struct time_look look = time_look_of(chart, &page->lines.letters, &cells[column], length);
            draw_cell(page, line, column, &look, is_selected && column == page->column);
        }
        vec_free(&label);
    }
}

/* Adds what is in the cell at the cursor: shares of its time. */
static void add_cell(struct time_page *page, bool ascii, struct text *out)
{
    struct time_chart *chart = &page->open.chart;
    const struct time_cell *cell = &time_chart_cells(chart, page->scroller.selected)[page->column];
    double sum = time_cell_sum(cell);
    text_add(out, "cell:");
    for (int state = 0; state < SHOWN_STATES && sum > 0; state++) {
        double amount = shown_state_amount(cell, (enum shown_state)state);
        if (amount > 0)
            text_printf(out, " %s %.0f %%", state_looks[state].name, 100 * amount / sum);
    }
    if (sum > 0 && cell->value != NOTHING) {
        char buffer[NAME_SIZE];
        text_say(out, ascii, "; %s %.0f %%", database_procedure_name(chart->scopes->db, cell->value, buffer),
                 100 * cell->of_value / sum);
    }
    if (sum > 0 && chart->marks)
        text_printf(out, "; marked %.0f %%", 100 * cell->marked / sum);
    if (sum <= 0)
        text_add(out, " nothing");
}

/* Draws the legend in symbols, or boxes of color, as far as there is room. */
static void draw_legend(const struct time_page *page, int line)
{
    struct text name = {0};
    bool is_of_states = !page->open.chart.depth && screen_has_colors() && !page->lines.ascii;
    char symbol[2] = "";
    enum time_color color;
    int at = 0, width = screen_width();
    for (size_t i = 0; timeline_legend(&page->lines, i, symbol, &color, &name); i++) {
        int used = (int)text_columns(text_string(&name)) + 4;
        if (at + used > width)
            break;
        screen_put_tile(line, at, color, TIME_COLORS, screen_has_colors(), is_of_states ? " " : symbol);
        screen_put(line, at + 2, width - at - 2, STYLE_PLAIN, text_string(&name));
        at += used;
    }
    vec_free(&name);
}

/* What stands below the rows, from `line` on. */
static void draw_below(struct tui *tui, struct time_page *page, int line)
{
    const struct thread_row *row = selected_row(page);
    int width = screen_width();
    struct text text = {0};
    uint32_t node = 0;
    timeline_add_time(cursor_time(page), timeline_tick_step(page->open.chart.window.end - page->open.chart.window.begin, 1000),
                      &text);
    text_add(&text, "  ");
    if (row->is_group)
        timeline_add_row(&page->open, page->scroller.selected, tui->ascii, &text);
    else
        node = timeline_add_instant(&page->open, row->first, cursor_time(page), tui->ascii, &text);
    screen_put(line, 0, width, STYLE_HEAD, text_string(&text));
    text_clear(&text);
    if (node)
        timeline_add_path(&page->open, node, (size_t)width - 2, tui->ascii, &text);
    screen_put(line + 1, 2, width - 2, STYLE_PLAIN, text_string(&text));
    text_clear(&text);
    add_cell(page, tui->ascii, &text);
    screen_put(line + 2, 2, width - 2, STYLE_DIM, text_string(&text));
    draw_legend(page, line + 3);
    text_clear(&text);
    timeline_add_note(&page->open, &text);
    screen_put(line + 4, 0, width, STYLE_DIM, text_string(&text));
    vec_free(&text);
}

/* Finds how large the parts are. */
static void place_parts(struct time_page *page)
{
    struct time_chart *chart = &page->open.chart;
    int columns = screen_width() - (int)page->lines.label_width;
    page->rows.column = (int)page->lines.label_width;
    page->rows.width = columns > 1 ? columns : 1;
    time_chart_show(chart, chart->window.begin, chart->window.end, (unsigned)page->rows.width);
    page->column = page->column < chart->window.n ? page->column : chart->window.n - 1;
    page->scroller.n = chart->rows.rows.n;
}

/* Draws the page; returns the line for questions and messages. */
static int draw(void *context)
{
    struct tui *tui = context;
    struct time_page *page = tui->time_page;
    int height = screen_height(), line = LINES_ABOVE;
    struct text text = {0};
    place_parts(page);
    screen_begin();
    text_add(&text, "time line: ");
    timeline_add_title(&page->lines, &text);
    if (page->marked.n)
        text_printf(&text, "; only %s", text_string(&page->marked));
    frame_draw(text_string(&text), " Arrows: cursor  z,Z: zoom  +,-: depth  /: find  i: idle  r: range  Enter: row  ?: help  q: back");
    text_clear(&text);
    timeline_add_axis(&page->open.chart.window, &text);
    screen_put(1, page->rows.column, page->rows.width, STYLE_DIM, text_string(&text));
    screen_put(1, page->rows.column + (int)page->column, 1, STYLE_SELECTED, page->lines.ascii ? "v" : "▼");
    if (page->range_begin != NO_TIME)
        screen_put(1, page->rows.column + (int)time_window_column(&page->open.chart.window, page->range_begin), 1,
                   STYLE_MATCH, "[");
    if (height >= HEIGHT_FOR_STRIP)
        line = draw_strip(page, line);
    page->rows.line = line;
    int below = height >= HEIGHT_FOR_LINES ? LINES_BELOW : 2;
    page->rows.height = height - below - line > 1 ? height - below - line : 1;
    scroller_follow(&page->scroller, (size_t)page->rows.height, 0);
    draw_rows(page);
    if (height >= HEIGHT_FOR_LINES)
        draw_below(tui, page, height - LINES_BELOW);
    if (tui->message.n) {
        screen_fill(height - 2, 0, screen_width(), STYLE_PLAIN);
        screen_put(height - 2, 0, screen_width(), STYLE_WARNING, text_string(&tui->message));
    }
    vec_free(&text);
    screen_end();
    return height - 2;
}

/* ---- time ---- */

static void go_to_time(struct time_page *page, uint64_t time)
{
    page->column = time_window_column(&page->open.chart.window, time);
}

/* Moves the cursor by a column; over the edge the window moves. */
static void step(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    long columns = tui->command->argument, n = chart->window.n, to = (long)page->column + columns;
    if (to < 0 || to >= n) {
        uint64_t time = cursor_time(page), column = (chart->window.end - chart->window.begin) / chart->window.n;
        time_chart_pan(chart, columns * (n / EDGE_PARTS + 1));
        go_to_time(page, columns < 0 ? time - (column < time ? column : time) : time + column);
    } else {
        page->column = (unsigned)to;
    }
}

static void pan(struct tui *tui)
{
    struct time_chart *chart = chart_of(tui);
    time_chart_pan(chart, tui->command->argument * (long)(chart->window.n / PAN_PARTS));
}

/* Zooms around the mouse, if the wheel does it, or the cursor. */
static void zoom(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct mouse mouse = screen_mouse();
    if (mouse.column >= page->rows.column && mouse.column < page->rows.column + page->rows.width)
        page->column = (unsigned)(mouse.column - page->rows.column);
    uint64_t time = cursor_time(page);
    time_chart_zoom(chart_of(tui), tui->command->argument > 0 ? 1 / ZOOM : ZOOM, time);
    go_to_time(page, time);
}

static void show_whole(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    uint64_t time = cursor_time(page);
    time_chart_show(chart_of(tui), 0, chart_of(tui)->timeline->end, chart_of(tui)->window.n);
    go_to_time(page, time);
}

static void click(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct mouse mouse = screen_mouse();
    size_t row = page->scroller.top + (size_t)(mouse.line - page->rows.line);
    if (mouse.line < page->rows.line || mouse.line >= page->rows.line + page->rows.height || row >= page->scroller.n)
        return;
    page->scroller.selected = row;
    if (mouse.column >= page->rows.column)
        page->column = (unsigned)(mouse.column - page->rows.column);
}

/* Goes to the longest stretch, the next one if that was the last command. */
static void go_to_idle(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    struct time_stretch found;
    if (!time_chart_longest_idle(chart, page->idle.end ? &page->idle : NULL, &found)) {
        tui_say(tui, page->idle.end ? "there is no other one" : "no thread is idle or waits");
        page->idle.end = 0;
        return;
    }
    uint64_t length = found.end - found.begin, before = length < found.begin ? length : found.begin;
    page->idle = found;
    time_chart_show(chart, found.begin - before, found.end + length, chart->window.n);
    page->scroller.selected = time_chart_row(chart, found.thread);
    go_to_time(page, found.begin + length / 2);
    text_add(&tui->message, "idle or waiting for ");
    timeline_add_time(length, timeline_tick_step(length, 100), &tui->message);
    tui_say(tui, "; i: the next one");
}

/* ---- what is shown ---- */

static void change_depth(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    long depth = (long)chart_of(tui)->depth + tui->command->argument;
    if (depth < 0 || depth > (long)place_deepest(&page->open.scopes)) {
        tui_say(tui, depth < 0 ? "these are the states" : "no path is deeper");
        return;
    }
    time_chart_set_depth(chart_of(tui), (uint32_t)depth);
    page->lines.letters.procedures.n = 0;
}

static void group(struct tui *tui)
{
    static const char *const words[GROUPINGS] = {
        [BY_THREAD] = "a row for each thread", [BY_PROCESS] = "a row for each process", [BY_ROUTINE] = "a row for each start routine"};
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    time_chart_group(chart, (enum thread_grouping)((chart->rows.grouping + 1) % GROUPINGS));
    page->scroller = (struct scroller){.n = chart->rows.rows.n};
    page->lines.label_width = timeline_label_width(&page->open, (size_t)screen_width());
    tui_say(tui, "%s", words[chart->rows.grouping]);
}

static void toggle_group(struct tui *tui)
{
    time_chart_toggle(chart_of(tui), tui->time_page->scroller.selected);
}

static void unmark(struct time_page *page)
{
    time_chart_mark(&page->open.chart, NULL);
    text_clear(&page->marked);
}

/* Marks the time of the row that is selected in the tree. */
static void mark_row(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct pane *pane = tui_pane(tui);
    unmark(page);
    time_chart_mark(chart_of(tui), place_marks_of_row(&page->open.scopes, pane->view, pane_row(pane)));
    describe_short_name(pane->view, pane_row(pane), tui->ascii, MOST_NAME_COLUMNS, &page->marked);
}

static void mark_or_unmark(struct tui *tui)
{
    if (tui->time_page->marked.n)
        unmark(tui->time_page);
    else
        mark_row(tui);
}

static void find(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct prompt prompt = {.question = "/", .draw = draw, .context = tui};
    const char *answer = prompt_ask(&prompt, "");
    size_t n = 0;
    if (answer)
        unmark(page);
    if (answer && *answer) {
        struct pattern *pattern = pattern_new(answer);
        bool *marks = place_marks_of_name(&page->open.scopes, pattern, &n);
        if (n) {
            time_chart_mark(chart_of(tui), marks);
            text_add_clean(&page->marked, answer, tui->ascii);
            tui_say(tui, "%zu procedure%s, with what they call  (Esc: all)", n, n == 1 ? "" : "s");
        } else {
            free(marks);
            tui_say(tui, "not found: %s", answer);
        }
        pattern_free(pattern);
    }
    vec_free(&prompt.text);
}

/* ---- other views ---- */

/* Goes to the row of what the thread did at the cursor, in the top-down view. */
static void go_to_row(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct thread_row *row = selected_row(page);
    struct text unused = {0};
    if (row->is_group) {
        toggle_group(tui);
        return;
    }
    uint32_t node = timeline_add_instant(&page->open, row->first, cursor_time(page), tui->ascii, &unused);
    vec_free(&unused);
    if (!node) {
        tui_say(tui, "there is no call path");
        return;
    }
    tui_show_view(tui, tui->projection, TOP_DOWN);
    page->is_closed = true;
    if (tui->id == TOP_DOWN)
        tui_select(tui, place_row(&page->open.scopes, tui_pane(tui)->view, node));
}

/* Begins a range with the cursor's column, or ends it and restricts all views to it. */
static void select_range(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct time_window *window = &chart_of(tui)->window;
    uint64_t from = time_window_at(window, page->column), to = time_window_at(window, page->column + 1);
    if (page->range_begin == NO_TIME) {
        page->range_begin = from;
        tui_say(tui, "the range begins here; r ends it, Esc gives it up");
        return;
    }
    struct time_range range = {page->range_begin < from ? page->range_begin : from, page->range_begin < from ? to : page->range_begin};
    page->is_closed = true;
    time_chart_show(chart_of(tui), range.from, range.to, window->n);
    tui->command = command_of_key('6');
    tui_restrict_time(tui, &range);
}

/* Undoes marks, the begin of a range, the range; else closes the page. */
static void undo(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    if (page->marked.n) {
        unmark(page);
    } else if (page->range_begin != NO_TIME) {
        page->range_begin = NO_TIME;
    } else {
        page->is_closed = true;
        if (tui->ranged_by)
            tui_leave_restriction(tui);
    }
}

const struct family time_family = {
    "Time line (key 6)",
    COMMANDS({"Left, h", "move the cursor to earlier times; at the edge the window moves", step, -1, 0},
             {"Right, l", "move the cursor to later times", step, 1, 0},
             {"Shift-Left, <", "go half a window to earlier times", pan, -1, 0},
             {"Shift-Right, >", "go half a window to later times", pan, 1, 0},
             {"z, wheel up", "zoom in around the cursor, or the mouse", zoom, 1, 0},
             {"Z, wheel down, Backspace", "zoom out", zoom, -1, 0},
             {"0", "the whole run", show_whole, 0, 0},
             {"+, =", "deeper: procedures at the next depth of the call paths, from the program's outermost one on",
              change_depth, 1, 0},
             {"-", "less deep; depth 0: states", change_depth, -1, 0},
             {"Enter", "go to the row of what the thread did at the cursor; open or close a group", go_to_row, 0, 0},
             {"Space", "open or close a group of threads", toggle_group, 0, 0},
             {"o", "a row for each thread, process, or start routine", group, 0, 0},
             {"/, F3", "show only when procedures ran whose name matches, with what they call", find, 0, 0},
             {"t", "show only the time of the row that is selected in the tree, or all", mark_or_unmark, 0, 0},
             {"i", "go to the longest time that a thread was idle (without idle workers: waited); again: the next",
              go_to_idle, 0, 0},
             {"r", "begin a range; again: all views, the summary and the advice are about it", select_range, 0, 0},
             {"Esc", "undo: what is marked, the range; then close the page", undo, 0, 0},
             {"click", "move the cursor", click, 0, 0})};

/* Carries out a key; the page may be closed then. */
static void obey(struct tui *tui, int key)
{
    struct time_page *page = tui->time_page;
    const struct command *opener = tui->command, *command = command_in_family(&time_family, key);
    long rows;
    if (key != KEY_NOTHING)
        text_clear(&tui->message);
    if (command) {
        tui->command = command;
        if (command->obey != go_to_idle)
            page->idle.end = 0;
        command->obey(tui);
        tui->command = opener;
    } else if (key_is_move(key, page->rows.height, (long)page->scroller.n, &rows)) {
        scroller_move(&page->scroller, rows);
    } else if (key_is_of(key, tui_redraw)) {
        screen_redraw();
    } else if (key != KEY_NOTHING) {
        page->is_closed = tui_closes(tui, key);
    }
}

static void open_page(struct tui *tui, struct time_page *page)
{
    const struct time_view_place *place = &tui->time_place;
    struct time_chart *chart = &page->open.chart;
    page->lines = (struct timeline_lines){.open = &page->open, .ascii = tui->ascii};
    page->range_begin = NO_TIME;
    if (place->end)
        time_chart_show(chart, place->begin, place->end, chart->window.n);
    if (place->depth && place->depth <= place_deepest(&page->open.scopes))
        time_chart_set_depth(chart, place->depth);
    int lines = screen_height() - LINES_ABOVE - LINES_BELOW - STRIP_LINES;
    time_chart_group(chart, thread_rows_usual(&chart->rows, lines > 1 ? (size_t)lines : 1));
    page->lines.label_width = timeline_label_width(&page->open, (size_t)screen_width());
    if (tui->command->argument)
        mark_row(tui);
}

void tui_show_time(struct tui *tui)
{
    struct time_page page = {0};
    if (!tui_is_of_one_run(tui, "the time line", false))
        return;
    int width = screen_width();
    const char *why = open_timeline(&page.open, tui->session, tui->projection, width > 0 ? (unsigned)width : 1);
    if (why) {
        tui_say(tui, "%s", why);
        return;
    }
    tui->time_page = &page;
    open_page(tui, &page);
    while (!page.is_closed) {
        draw(tui);
        obey(tui, screen_key());
    }
    const struct time_chart *chart = &page.open.chart;
    tui->time_place = (struct time_view_place){chart->window.begin, chart->window.end, chart->depth};
    tui->time_page = NULL;
    close_timeline(&page.open);
    vec_free(&page.lines.letters.procedures);
    vec_free(&page.marked);
}
