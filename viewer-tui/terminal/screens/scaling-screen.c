#include "viewer-tui/terminal/screens/scaling-screen.h"

#include "lib/diag.h"
#include "lib/safe-output.h"
#include "viewer-tui/output/print-scaling.h"
#include "viewer-tui/output/printed-pages.h"
#include "viewer-tui/scaling/plot-cells.h"
#include "viewer-tui/terminal/prompt.h"
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/tree/labels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Opens the losses; elsewhere it does nothing. */
#define LOSSES_KEY 'L'
/* As in the trees of runs. */
#define WRITE_KEY 'W'

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
    struct list table; /* a line for each number of workers */
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

static void add_heads(const void *context, size_t index, struct text *line)
{
    (void)context;
    (void)index;
    text_printf(line, "%8s%6s%10s", "workers", "runs", "T_P, s");
    if (screen_width() >= WIDTH_WITH_INTERVALS)
        text_printf(line, "%20s", "interval");
    text_printf(line, "%9s%10s%10s%10s%11s", "speedup", "work", "overhead", "idleness", "inflation");
}

static void add_row(const void *context, size_t index, struct text *line)
{
    const struct scaling_page *page = context;
    const struct scaling_row *row = &page->shown->table->rows.at[index];
    text_printf(line, "%8u%6zu", row->workers, row->n_runs);
    add_value(line, 10, 3, row->time.median);
    if (screen_width() >= WIDTH_WITH_INTERVALS) {
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

/* ---- plot ---- */

static void draw_legend(const struct scaling_page *page, int line, int column, int height)
{
    const struct speedup_plot *plot = &page->plot;
    int at = line;
    for (int c = 0; c < PLOT_CURVES && at < line + height; c++) {
        if (!plot->curves[c].points.n)
            continue;
        char letter[2] = {plot->curves[c].letter};
        screen_put(at, column, 1, STYLE_CURVE + c, letter);
        screen_put(at++, column + 2, LEGEND_WIDTH - 2, STYLE_PLAIN, plot->curves[c].name);
    }
    struct area rest = {at, column, 1, LEGEND_WIDTH};
    if (at >= line + height || page->ascii)
        return;
    if (plot->coverage > 0)
        screen_print(rest, STYLE_DIM, "bars: %.1f%% or more", 100 * plot->coverage);
    else
        screen_print(rest, STYLE_DIM, "%s", plot->curves[ACTUAL_SPEEDUP].points.n ? "no bars: too few runs"
                                                                                  : "no run with one worker");
}

static void draw_plot(const struct scaling_page *page, int line, int height)
{
    bool has_legend = screen_width() >= WIDTH_WITH_LEGEND;
    int width = screen_width() - (has_legend ? LEGEND_WIDTH + 1 : 0);
    struct plot_cells cells = plot_cells_of(&page->plot, width, height, page->ascii);
    for (int i = 0; i < cells.height; i++)
        for (int column = 0; column < cells.width; column++) {
            const struct plot_cell *cell = plot_cell_at(&cells, i, column);
            enum style style = cell->curve == NO_CURVE ? STYLE_DIM : STYLE_CURVE + cell->curve;
            if (*cell->text)
                screen_put(line + i, column, 1, style, cell->text);
        }
    if (cells.height && has_legend)
        draw_legend(page, line, width + 1, height);
    plot_cells_free(&cells);
}

/* Draws the page: the plot if there is room for it, and the table below. Returns the last line. */
static int draw(void *context)
{
    struct scaling_page *page = context;
    int lines = screen_height() - 2, rows = (int)page->table.scroller.n;
    int most = lines / TABLE_PART > 2 ? lines / TABLE_PART : 2;
    int height = rows + 1 < most ? rows + 1 : most; /* of the table, with its head */
    screen_begin();
    frame_draw(text_string(&page->title), page->message.n ? text_string(&page->message) : page->table.help);
    if (lines - height >= LEAST_PLOT_HEIGHT)
        draw_plot(page, 1, lines - height);
    else
        height = lines > 2 ? lines : 2;
    list_draw(&page->table, (struct area){screen_height() - 1 - height, 0, height, screen_width()});
    screen_end();
    return screen_height() - 1;
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
    struct page page = {.title = "help", .text = text, .opener = command_of_key('?')};
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

/* Opens the run with the selected number of workers, or the losses. Returns why the terminal cannot be taken over
 * again, or NULL. */
static const char *open_other(struct scaling_page *page, bool losses)
{
    const struct shown_set *shown = page->shown;
    const struct set_run *run = median_run(shown, &shown->table->rows.at[page->table.scroller.selected]);
    screen_stop();
    if (shown->open(shown, losses ? NULL : run) != 0)
        text_printf(&page->message, " %s cannot be shown; q: see why", losses ? "the losses" : run->directory);
    return screen_start(shown->has_mouse);
}

/* Asks for a name, and writes a new file. */
static void ask_and_write(struct scaling_page *page)
{
    const struct shown_set *shown = page->shown;
    struct prompt prompt = {.question = "write to: ", .draw = draw, .context = page};
    struct atomic_file file;
    const char *name = prompt_ask(&prompt, "scaling.svg");
    enum format format = name ? format_of_file(name) : FORMATS;
    if (name && *name && (format == FORMATS || !(printed_pages[PRINT_SCALING].formats & 1u << format))) {
        text_add(&page->message, " the name must end with .svg .txt .csv .json");
    } else if (name && *name) {
        char *cause = output_exists(name) ? mem_strdup(strerror(EEXIST)) : NULL;
        if (!cause && atomic_file_begin(&file, name, &cause)) {
            print_scaling(shown->set, shown->table, format, file.out);
            atomic_file_commit(&file, &cause);
        }
        text_say(&page->message, page->ascii, "%s%s%s%s", cause ? " cannot write " : " written: ", name,
                 cause ? ": " : "", cause ? cause : "");
        free(cause);
    }
    vec_free(&prompt.text);
}

/* Runs until the user quits. Returns why the page ended early, or NULL. */
static const char *loop(struct scaling_page *page)
{
    const char *cause = NULL;
    while (!cause) {
        draw(page);
        int key = screen_key();
        long n = (long)page->table.scroller.n, rows;
        if (key == KEY_GONE || key_is_of(key, tui_quit))
            return NULL;
        if (key != KEY_NOTHING)
            text_clear(&page->message);
        if (key_is_move(key, n, n, &rows))
            scroller_move(&page->table.scroller, rows);
        else if (key == LOSSES_KEY || key_is_of(key, tui_toggle))
            cause = open_other(page, key == LOSSES_KEY);
        else if (key == WRITE_KEY)
            ask_and_write(page);
        else if (key_is_of(key, tui_help))
            show_help();
        else if (key_is_of(key, tui_redraw))
            screen_redraw();
    }
    return cause;
}

int scaling_screen_run(const struct shown_set *shown)
{
    const char *cause = screen_start(shown->has_mouse);
    if (!cause) {
        struct scaling_page page = {
            .shown = shown, .plot = speedup_plot_of(shown->table), .ascii = describe_in_ascii()};
        page.table = (struct list){
            .help = " Up, Down: workers  Enter: open a run  L: losses  W: write  ?: help  q: quit",
            .n_heads = 1,
            .head_style = STYLE_HEAD,
            .head = add_heads,
            .line = add_row,
            .context = &page,
            .scroller = {.n = shown->table->rows.n}};
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
