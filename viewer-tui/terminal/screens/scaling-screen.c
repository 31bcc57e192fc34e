#include "viewer-tui/terminal/screens/scaling-screen.h"

#include "lib/diag.h"
#include "lib/safe-output.h"
#include "viewer-tui/output/print-scaling.h"
#include "viewer-tui/scaling/plot-cells.h"
#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELP_LINE                                                                                  \
    " Up, Down: workers  Enter: open a run  L: losses  W: write  ?: help  q: quit"

/* Opens the losses; elsewhere it does nothing. */
#define LOSSES_KEY 'L'

/* Columns of the legend, right of the plot. */
#define LEGEND_WIDTH 28

_Static_assert(STYLES - STYLE_CURVE == PLOT_CURVES, "each curve needs a style");

/* Widths from which the screen has room for the legend, and the table for intervals. */
#define WIDTH_WITH_LEGEND    72
#define WIDTH_WITH_INTERVALS 100

/* The table takes at most 1 / TABLE_PART of the lines. */
#define TABLE_PART 2

struct scaling_page {
    const struct shown_set *shown;
    struct speedup_plot plot;
    bool ascii;
    size_t selected, top; /* rows of the table */
    struct text title;
    struct text message; /* for the last line, until the next key */
};

/* ---- table ---- */

static void add_value(struct text *line, int width, int decimals, double value)
{
    if (isfinite(value))
        text_printf(line, "%*.*f", width, decimals, value);
    else
        text_printf(line, "%*s", width, "-");
}

static void add_heads(struct text *line, bool has_intervals)
{
    text_printf(line, "%8s%6s%10s", "workers", "runs", "T_P, s");
    if (has_intervals)
        text_printf(line, "%20s", "interval");
    text_printf(line, "%9s%10s%10s%10s%11s", "speedup", "work", "overhead", "idleness",
                "inflation");
}

static void add_row(struct text *line, const struct scaling_row *row, bool has_intervals)
{
    text_printf(line, "%8u%6zu", row->workers, row->n_runs);
    add_value(line, 10, 3, row->time.median);
    if (has_intervals) {
        char interval[64];
        snprintf(interval, sizeof interval, "%.3f to %.3f", row->time.low, row->time.high);
        text_printf(line, "%20s", interval);
    }
    add_value(line, 9, 2, row->speedups[ACTUAL_SPEEDUP].value);
    add_value(line, 10, 3, row->work.median);
    add_value(line, 10, 3, row->overhead.median);
    add_value(line, 10, 3, row->idleness.median);
    add_value(line, 11, 3, row->inflation);
}

/* Draws the table from `line` on: heads and `height` rows. */
static void draw_table(struct scaling_page *page, int line, int height)
{
    const struct scaling_table *table = page->shown->table;
    int width = screen_width();
    bool has_intervals = width >= WIDTH_WITH_INTERVALS;
    struct text text = {0};
    size_t rows = (size_t)height;
    if (page->selected < page->top)
        page->top = page->selected;
    if (page->selected >= page->top + rows)
        page->top = page->selected - rows + 1;
    add_heads(&text, has_intervals);
    screen_fill(line, 0, width, STYLE_HEAD);
    screen_put(line, 0, width, STYLE_HEAD, text_string(&text));
    for (size_t i = page->top; i < table->rows.n && i < page->top + rows; i++) {
        enum style style = i == page->selected ? STYLE_SELECTED : STYLE_PLAIN;
        int at = line + 1 + (int)(i - page->top);
        text_clear(&text);
        add_row(&text, &table->rows.at[i], has_intervals);
        screen_fill(at, 0, width, style);
        screen_put(at, 0, width, style, text_string(&text));
    }
    vec_free(&text);
}

/* ---- plot ---- */

static void draw_cells(const struct plot_cells *cells, int line)
{
    for (int i = 0; i < cells->height; i++)
        for (int column = 0; column < cells->width; column++) {
            const struct plot_cell *cell = plot_cell_at(cells, i, column);
            enum style style = cell->curve == NO_CURVE ? STYLE_DIM : STYLE_CURVE + cell->curve;
            if (*cell->text)
                screen_put(line + i, column, 1, style, cell->text);
        }
}

static void draw_legend(const struct scaling_page *page, int line, int column, int height)
{
    const struct speedup_plot *plot = &page->plot;
    struct text text = {0};
    int at = line;
    for (int c = 0; c < PLOT_CURVES && at < line + height; c++) {
        if (!plot->curves[c].points.n)
            continue;
        char letter[2] = {plot->curves[c].letter};
        screen_put(at, column, 1, STYLE_CURVE + c, letter);
        screen_put(at++, column + 2, LEGEND_WIDTH - 2, STYLE_PLAIN, plot->curves[c].name);
    }
    if (plot->coverage > 0)
        text_printf(&text, "bars: %.1f%% or more", 100 * plot->coverage);
    else if (plot->curves[ACTUAL_SPEEDUP].points.n)
        text_add(&text, "no bars: too few runs");
    else
        text_add(&text, "no run with one worker");
    if (at < line + height && !page->ascii)
        screen_put(at, column, LEGEND_WIDTH, STYLE_DIM, text_string(&text));
    vec_free(&text);
}

static void draw_plot(const struct scaling_page *page, int line, int height)
{
    bool has_legend = screen_width() >= WIDTH_WITH_LEGEND;
    int width = screen_width() - (has_legend ? LEGEND_WIDTH + 1 : 0);
    struct plot_cells cells = plot_cells_of(&page->plot, width, height, page->ascii);
    draw_cells(&cells, line);
    if (cells.height && has_legend)
        draw_legend(page, line, width + 1, height);
    plot_cells_free(&cells);
}

static void draw(struct scaling_page *page)
{
    int lines = screen_height() - 2, rows = (int)page->shown->table->rows.n;
    int most = lines / TABLE_PART > 2 ? lines / TABLE_PART : 2;
    int height = rows + 1 < most ? rows : most - 1;
    screen_begin();
    page_draw_frame(text_string(&page->title),
                    page->message.n ? text_string(&page->message) : HELP_LINE);
    if (lines - height - 1 >= LEAST_PLOT_HEIGHT)
        draw_plot(page, 1, lines - height - 1);
    else
        height = lines - 1 > 1 ? lines - 1 : 1;
    draw_table(page, screen_height() - 2 - height, height);
    screen_end();
}

/* ---- commands ---- */

static void show_help(void)
{
    static const char text[] =
        "Keys\n"
        "  Up, Down, k, j   select a number of workers; also PgUp, PgDn, Home, End\n"
        "  Enter            open the run of median time with that number of workers\n"
        "  L                losses: what every calling context loses, over all runs\n"
        "  W                write to a file: .svg .txt .csv .json\n"
        "  ?, F1            this help\n"
        "  q, F10, ^C       quit\n"
        "\n"
        "Curves\n"
        "  T_s is the time of the serial baseline, or without one that of one worker; T_P that "
        "with P workers, I_P the idleness.\n"
        "  . linear               P\n"
        "  m maximal              P T_s / T_1: neither idleness nor inflation\n"
        "  i idle-specific        P T_s / (T_1 + I_P): no inflation\n"
        "  f inflation-specific   P T_s / (P T_P - I_P): no idleness\n"
        "  a actual               T_s / T_P\n"
        "  w work law             T_s / (work / P): no speedup is larger\n"
        "  s span law             T_s / span: no speedup is larger\n"
        "  b burdened             T_s / (work / P + 1.7 burdened span): work stealing reaches this\n"
        "  The last three need hpcrun --workers ... --work-span. The true speedup is within "
        "its vertical bar with the probability in the legend.\n"
        "\n"
        "Table\n"
        "  Medians over the runs, in seconds; the manual page says more. Inflation: work that one "
        "worker does not have. \"-\": not measured.\n";
    struct page page = {.title = "help", .text = text, .opener = COMMAND_HELP};
    page_show(&page);
}

/* The run with that number of workers whose time is nearest to the median. */
static const struct set_run *median_run(const struct shown_set *shown,
                                        const struct scaling_row *row)
{
    const struct set_run *nearest = NULL;
    for (size_t i = 0; i < shown->set->runs.n; i++) {
        const struct set_run *run = &shown->set->runs.at[i];
        if (run->status || run->workers != row->workers || run->repeat == WORK_SPAN_REPEAT)
            continue;
        if (!nearest || fabs(run->wall - row->time.median) < fabs(nearest->wall - row->time.median))
            nearest = run;
    }
    return nearest;
}

/* Returns why the terminal cannot be taken over again, or NULL. */
static const char *open_run(struct scaling_page *page)
{
    const struct shown_set *shown = page->shown;
    const struct set_run *run = median_run(shown, &shown->table->rows.at[page->selected]);
    screen_stop();
    if (shown->open_run(shown, run) != 0)
        text_printf(&page->message, " %s cannot be shown; q: see why", run->directory);
    return screen_start(shown->has_mouse);
}

/* As open_run. */
static const char *open_losses(struct scaling_page *page)
{
    screen_stop();
    if (page->shown->open_losses(page->shown) != 0)
        text_add(&page->message, " the losses cannot be shown; q: see why");
    return screen_start(page->shown->has_mouse);
}

/* Asks for a name in the last line; NULL: none. The caller frees. */
static char *ask_name(struct scaling_page *page)
{
    static const char prompt[] = "write to: ";
    struct line_edit asked = {0};
    enum line_state edit = EDIT_GOES_ON;
    line_edit_set(&asked, "scaling.svg");
    while (edit == EDIT_GOES_ON) {
        int line = screen_height() - 1;
        draw(page);
        screen_fill(line, 0, screen_width(), STYLE_PLAIN);
        int at = screen_put(line, 0, screen_width(), STYLE_PLAIN, prompt);
        line_edit_draw(&asked, (struct area){line, at, 1, screen_width() - at});
        screen_end();
        edit = edit_line(&asked, screen_key());
    }
    char *name = edit == EDIT_DONE && asked.text.n ? mem_strdup(text_string(&asked.text)) : NULL;
    vec_free(&asked.text);
    return name;
}

/* The format for a file's name; FORMATS: there is none. */
static enum format format_of(const char *name)
{
    static const struct {
        const char *suffix;
        enum format format;
    } suffixes[] = {{".svg", FORMAT_SVG},
                    {".txt", FORMAT_TEXT},
                    {".csv", FORMAT_CSV},
                    {".json", FORMAT_JSON}};
    const char *suffix = strrchr(name, '.');
    for (size_t i = 0; suffix && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(suffix, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    return FORMATS;
}

/* Writes a new file. */
static void write_file(struct scaling_page *page, const char *name, enum format format)
{
    const struct shown_set *shown = page->shown;
    struct atomic_file file;
    char *cause = output_exists(name) ? mem_strdup(strerror(EEXIST)) : NULL;
    if (!cause && atomic_file_begin(&file, name, &cause)) {
        print_scaling(shown->set, shown->table, format, file.out);
        atomic_file_commit(&file, &cause);
    }
    text_printf(&page->message, cause ? " cannot write " : " written: ");
    text_add_clean(&page->message, name, page->ascii);
    if (cause)
        text_printf(&page->message, ": %s", cause);
    free(cause);
}

static void ask_and_write(struct scaling_page *page)
{
    char *name = ask_name(page);
    enum format format = name ? format_of(name) : FORMATS;
    if (name && format == FORMATS)
        text_add(&page->message, " the name must end with .svg .txt .csv .json");
    else if (name)
        write_file(page, name, format);
    free(name);
}

static void move(struct scaling_page *page, enum command command)
{
    long n = (long)page->shown->table->rows.n;
    long at = (long)page->selected + command_rows(command, n, n);
    page->selected = (size_t)(at < 0 ? 0 : at < n ? at : n - 1);
}

/* Runs until the user quits. Returns why the page ended early, or NULL. */
static const char *loop(struct scaling_page *page)
{
    for (;;) {
        draw(page);
        int key = screen_key();
        enum command command = keys_command(key);
        if (key == KEY_GONE || command == COMMAND_QUIT)
            return NULL;
        if (key != KEY_NOTHING)
            text_clear(&page->message);
        move(page, command);
        const char *cause = key == LOSSES_KEY ? open_losses(page) : NULL;
        switch (command) {
        case COMMAND_TOGGLE: cause = open_run(page); break;
        case COMMAND_WRITE: ask_and_write(page); break;
        case COMMAND_HELP: show_help(); break;
        case COMMAND_REDRAW: screen_redraw(); break;
        default: break;
        }
        if (cause)
            return cause;
    }
}

int scaling_screen_run(const struct shown_set *shown)
{
    const char *cause = screen_start(shown->has_mouse);
    if (!cause) {
        struct scaling_page page = {
            .shown = shown, .plot = speedup_plot_of(shown->table), .ascii = describe_in_ascii()};
        text_add(&page.title, "scaling: ");
        text_add_clean_code(&page.title, shown->set->command, page.ascii);
        cause = loop(&page);
        if (!cause)
            screen_stop();
        speedup_plot_free(&page.plot);
        vec_free(&page.title);
        vec_free(&page.message);
    }
    if (cause)
        diag_error(NULL, "%s", cause);
    return cause ? 1 : 0;
}
