/* The time view: a strip of what all threads did, a row for each thread or group, and what the thread at the cursor did
 * then. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/timeline-page.h"

#include <string.h>

_Static_assert(TIME_COLORS == SCREEN_TILE_COLORS, "screen.c has as many colors");

/* Lines around the rows: title, axis, and below the rows instant, path, cell, legend (one or more), note, keys. */
#define LINES_ABOVE 2
#define LINES_BELOW 6

/* The legend may have a third of the screen, if that leaves some rows. */
#define LEGEND_PART 3
#define LEAST_ROWS  3

/* Least height of the screen with the strip, and with the lines below the rows. */
#define HEIGHT_FOR_STRIP 18
#define HEIGHT_FOR_LINES 12

uint64_t time_page_time(const struct time_page *page)
{
    const struct time_window *window = &page->open.chart.window;
    uint64_t begin = time_window_at(window, page->column);
    return begin + (time_window_at(window, page->column + 1) - begin) / 2;
}

/* ---- drawing ---- */

/* Draws those lines of the strip in which something is; returns the line after them. */
static int draw_strip(struct time_page *page, int line)
{
    struct time_chart *chart = &page->open.chart;
    for (size_t i = 0; i < (size_t)screen_height() && page->scroller.top + i < chart->rows.rows.n; i++)
        time_chart_cells(chart, page->scroller.top + i); /* which the strip may be the sum of */
    double most = timeline_strip_most(&page->lines);
    autofree struct text label = {0};
    for (size_t i = 0; i < STRIP_LINES; i++) {
        text_clear(&label);
        if (!timeline_strip_label(&page->lines, i, &label))
            continue;
        screen_put(line, 0, (int)page->lines.label_width, STYLE_DIM, text_string(&label));
        for (unsigned column = 0; column < chart->window.n; column++)
            screen_put_tile(line, page->rows.column + (int)column, strip_lines[i].color, TIME_COLORS, false,
                            time_bar(timeline_strip_value(&page->lines, i, column) / most, page->lines.ascii));
        line++;
    }
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
    size_t first = page->scroller.top;
    for (size_t i = 0; i < page->n_rows; i++) {
        bool is_selected = first + i == page->scroller.selected;
        int line = page->rows.line + (int)i;
        autofree struct text label = {0};
        timeline_line_label(&page->lines, first + i, &label);
        screen_put(line, 0, page->rows.column - 1, is_selected ? STYLE_SELECTED : STYLE_PLAIN, text_string(&label));
        const struct time_cell *cells = time_chart_cells(chart, first + i);
        for (unsigned column = 0; column < chart->window.n; column++) {
            struct time_look look = timeline_look(&page->lines, &cells[column]);
            draw_cell(page, line, column, &look, is_selected && column == page->column);
        }
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

/* Draws the legend in symbols, or boxes of color, from a line on; with `line` < 0 it draws nothing. Returns the number
 * of its lines, `most` at most. */
static int draw_legend(const struct time_page *page, int line, int most)
{
    autofree struct text name = {0};
    bool is_of_states = !page->open.chart.depth && screen_has_colors() && !page->lines.ascii;
    char symbol[2] = "";
    enum time_color color;
    int column = 0, n = 1, width = screen_width();
    for (size_t at = 0; timeline_legend(&page->lines, &at, symbol, &color, &name);) {
        int used = (int)text_columns(text_string(&name)) + 4;
        if (column > 0 && column + used > width) {
            if (n == most)
                break;
            n++;
            column = 0;
        }
        if (line >= 0) {
            screen_put_tile(line + n - 1, column, color, TIME_COLORS, screen_has_colors(), is_of_states ? " " : symbol);
            screen_put(line + n - 1, column + 2, width - column - 2, STYLE_PLAIN, text_string(&name));
        }
        column += used;
    }
    return n;
}

/* What stands below the rows, from `line` on. */
static void draw_below(struct tui *tui, struct time_page *page, int line)
{
    const struct thread_row *row = time_page_row(page);
    int width = screen_width();
    autofree struct text text = {0};
    uint32_t node = 0;
    uint64_t step = timeline_tick_step(page->open.chart.window.end - page->open.chart.window.begin, 1000);
    timeline_add_time(time_page_time(page), step, &text);
    text_add(&text, "  ");
    if (row->is_group)
        timeline_add_row(&page->open, page->scroller.selected, tui->ascii, &text);
    else
        node = timeline_add_instant(&page->open, row->first, time_page_time(page), tui->ascii, &text);
    screen_put(line, 0, width, STYLE_HEAD, text_string(&text));
    text_clear(&text);
    if (node)
        timeline_add_path(&page->open, node, (size_t)width - 2, tui->ascii, &text);
    screen_put(line + 1, 2, width - 2, STYLE_PLAIN, text_string(&text));
    text_clear(&text);
    if (!row->is_group)
        timeline_add_waker(&page->open, row->first, time_page_time(page), step, (size_t)width - 2, tui->ascii, &text);
    if (!text.n)
        add_cell(page, tui->ascii, &text);
    screen_put(line + 2, 2, width - 2, STYLE_DIM, text_string(&text));
    line += 3 + draw_legend(page, line + 3, page->legend_lines);
    text_clear(&text);
    timeline_add_note(&page->open, &text);
    screen_put(line, 0, width, STYLE_DIM, text_string(&text));
}

/* Gives letters to what the rows show; the legend has these. Finds how many lines it has. */
static void find_legend(struct time_page *page)
{
    int third = screen_height() / LEGEND_PART, left = page->rows.height - LEAST_ROWS + 1;
    struct time_chart *chart = &page->open.chart;
    size_t first = page->scroller.top;
    letters_give(&page->lines.letters, chart, first, page->n_rows);
    memset(page->lines.has_symbol, 0, sizeof page->lines.has_symbol);
    for (size_t row = first; row < first + page->n_rows; row++)
        for (unsigned column = 0; column < chart->window.n; column++)
            timeline_look(&page->lines, &time_chart_cells(chart, row)[column]);
    left = left > 1 ? left : 1;
    page->legend_lines = draw_legend(page, -1, left < third ? left : third);
}

/* Gives the rows the lines from `line` on, but for those below them. */
static void place_rows(struct time_page *page, int line, int below)
{
    int lines = screen_height() - below - line, height = lines > 1 ? lines : 1;
    page->rows.line = line;
    page->rows.height = height;
    scroller_follow(&page->scroller, (size_t)height, 0);
    size_t left = page->scroller.n - page->scroller.top;
    page->n_rows = left < (size_t)height ? left : (size_t)height;
}

void time_page_fit_labels(struct time_page *page)
{
    page->lines.label_width = timeline_label_width(&page->open, (size_t)screen_width());
}

int time_page_draw(void *context)
{
    struct tui *tui = context;
    struct time_page *page = tui->time_page;
    struct time_chart *chart = &page->open.chart;
    int height = screen_height(), line = LINES_ABOVE, columns = screen_width() - (int)page->lines.label_width;
    autofree struct text text = {0};
    page->rows.column = (int)page->lines.label_width;
    page->rows.width = columns > 1 ? columns : 1;
    time_chart_show(chart, chart->window.begin, chart->window.end, (unsigned)page->rows.width);
    page->column = page->column < chart->window.n ? page->column : chart->window.n - 1;
    page->scroller.n = chart->rows.rows.n;
    screen_begin();
    text_add(&text, "time line: ");
    timeline_add_title(&page->lines, frame_title_room() - text.n, &text);
    if (page->marked.n)
        text_printf(&text, "; only %s", text_string(&page->marked));
    frame_draw(text_string(&text),
               " Arrows: cursor  z,Z: zoom  +,-: depth  Enter: row  ?: help  q: back  /: find  i: idle  n: phase  r: range");
    text_clear(&text);
    timeline_add_axis(&chart->window, &text);
    screen_put(1, page->rows.column, page->rows.width, STYLE_DIM, text_string(&text));
    screen_put(1, page->rows.column + (int)page->column, 1, STYLE_SELECTED, page->lines.ascii ? "v" : "▼");
    int range_at = page->rows.column + (int)time_window_column(&chart->window, page->range_begin);
    if (page->range_begin != NO_TIME)
        screen_put(1, range_at, 1, STYLE_MATCH, "[");
    if (height >= HEIGHT_FOR_STRIP)
        line = draw_strip(page, line);
    int below = height >= HEIGHT_FOR_LINES ? LINES_BELOW : 2;
    place_rows(page, line, below);
    find_legend(page);
    if (height >= HEIGHT_FOR_LINES)
        place_rows(page, line, below += page->legend_lines - 1);
    draw_rows(page);
    if (height >= HEIGHT_FOR_LINES)
        draw_below(tui, page, height - below);
    if (tui->message.n) {
        screen_fill(height - 2, 0, screen_width(), STYLE_PLAIN);
        screen_put(height - 2, 0, screen_width(), STYLE_WARNING, text_string(&tui->message));
    }
    screen_end();
    return height - 2;
}

/* Shows the page as the user left it last. */
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
    time_page_fit_labels(page);
    if (tui->command->argument)
        time_page_mark_row(tui);
}

/* Carries out a key; the page may be closed then. */
static void obey(struct tui *tui, struct time_page *page, int key)
{
    const struct command *opener = tui->command, *command = command_in_family(&time_family, key);
    long rows;
    if (key != KEY_NOTHING)
        text_clear(&tui->message);
    if (command) {
        tui->command = command;
        command->obey(tui);
        tui->command = opener;
        page->last = command;
    } else if (key_is_move(key, page->rows.height, (long)page->scroller.n, &rows)) {
        scroller_move(&page->scroller, rows);
    } else if (key_is_of(key, tui_redraw)) {
        screen_redraw();
    } else if (!(page->is_closed = tui_closes(tui, key)) && !key_is_of(key, tui_help)) {
        tui_say_unknown(tui, key);
    }
}

void tui_show_time(struct tui *tui)
{
    struct time_page page = {0};
    struct prompt_screen below = tui->prompt.screen;
    if (!tui_is_of_one_run(tui, "the time line", false))
        return;
    int width = screen_width();
    const char *why = open_timeline(&page.open, tui->session, tui->projection, true, width > 0 ? (unsigned)width : 1);
    if (why) {
        tui_say(tui, "%s", why);
        return;
    }
    tui->time_page = &page;
    tui->prompt.screen = (struct prompt_screen){time_page_draw, tui};
    open_page(tui, &page);
    while (!page.is_closed) {
        time_page_draw(tui);
        obey(tui, &page, screen_key());
    }
    const struct time_chart *chart = &page.open.chart;
    tui->time_place = (struct time_view_place){chart->window.begin, chart->window.end, chart->depth};
    tui->time_page = NULL;
    tui->prompt.screen = below;
    close_timeline(&page.open);
    vec_free(&page.lines.letters.procedures);
    vec_free(&page.marked);
}
