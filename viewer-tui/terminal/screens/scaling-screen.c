#include "viewer-tui/terminal/screens/scaling-screen.h"

#include "lib/diag.h"
#include "lib/safe-output.h"
#include "viewer-tui/output/print-scaling.h"
#include "viewer-tui/output/printed-pages.h"
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"
#include "viewer-tui/tree/labels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least lines of the screen on which more than the column titles stands above the rows. */
#define HEIGHT_WITH_BASELINE 16

struct scaling_page {
    struct tui *tui; /* for questions and messages; without a session */
    const struct shown_set *shown;
    struct list table; /* a line for each number of workers */
    VEC(char *) lines; /* as they are printed, for the width of the screen; pieces of `printed` */
    char *printed;
    size_t first_row; /* index of the line of the first number of workers */
    struct text title;
};

static void add_line(const void *context, size_t index, struct text *line)
{
    const struct scaling_page *page = context;
    text_add(line, page->lines.at[page->first_row - page->table.n_heads + index]);
}

/* Draws the page as it is printed. Returns the last line. */
static int draw(void *context)
{
    struct scaling_page *page = context;
    int lines = screen_height() - 2 > 2 ? screen_height() - 2 : 2;
    size_t rows_at = 0;
    free(page->printed);
    page->printed = scaling_text(page->shown->set, page->shown->table, (size_t)screen_width(), &rows_at);
    page->lines.n = 0;
    for (char *at = page->printed, *end; at && (end = strchr(at, '\n')); at = end + 1) {
        if (at == page->printed + rows_at)
            page->first_row = page->lines.n;
        *end = '\0';
        vec_push(&page->lines, at);
    }
    page->table.scroller.n = page->lines.n ? page->shown->table->rows.n : 0;
    /* The title of the screen has the first line. No lines: there is no memory. */
    page->table.n_heads = !page->lines.n ? 0 : screen_height() >= HEIGHT_WITH_BASELINE ? page->first_row - 1 : 1;
    int height = (int)(page->table.scroller.n + page->table.n_heads);
    screen_begin();
    frame_draw(text_string(&page->title),
               page->tui->message.n ? text_string(&page->tui->message) : page->table.help);
    list_draw(&page->table, (struct area){1, 0, height < lines ? height : lines, screen_width()});
    size_t next = page->first_row + page->table.scroller.n;
    for (; height < lines && next < page->lines.n; height++)
        screen_put(1 + height, 0, screen_width(), STYLE_PLAIN, page->lines.at[next++]);
    screen_end();
    return screen_height() - 1;
}

/* ---- commands ---- */

static void show_help(struct tui *tui)
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
        "Speedups\n"
        "  T_s is the time of the serial baseline, or without one that of one worker; T_P that "
        "with P workers, I_P the idleness.\n"
        "  linear               P\n"
        "  maximal              P T_s / T_1: neither idleness nor inflation\n"
        "  idle-specific        P T_s / (T_1 + I_P): no inflation\n"
        "  inflation-specific   P T_s / (P T_P - I_P): no idleness\n"
        "  actual               T_s / T_P\n"
        "  work law             T_s / (work / P): no speedup is larger\n"
        "  span law             T_s / span: no speedup is larger\n"
        "  burdened             T_s / (work / P + 1.7 burdened span): work stealing reaches this\n"
        "  The last three need hpcrun --workers ... --work-span.\n"
        "\n"
        "Table\n"
        "  Medians over the runs, in seconds; the manual page says more. Inflation: work that one "
        "worker does not have. \"-\": not measured.\n";
    tui_show_text(tui, "help", text, command_of_key('?'));
    tui->next = NULL;
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
        text_printf(&page->tui->message, " %s cannot be shown; q: see why", losses ? "the losses" : run->directory);
    return screen_start(shown->has_mouse);
}

/* Asks for a name, and writes a new file. */
static void ask_and_write(struct scaling_page *page)
{
    const struct shown_set *shown = page->shown;
    struct atomic_file file;
    const char *name = tui_ask(page->tui, "write to: ", "scaling.svg", NULL);
    enum format format = name ? format_of_file(name) : FORMATS;
    if (name && *name && (format == FORMATS || !(printed_pages[PRINT_SCALING].formats & 1u << format))) {
        tui_say(page->tui, " the name must end with .svg .txt .csv .json");
    } else if (name && *name) {
        autofree char *cause = output_exists(name) ? mem_strdup(strerror(EEXIST)) : NULL;
        if (!cause && atomic_file_begin(&file, name, &cause)) {
            print_scaling(shown->set, shown->table, format, file.out);
            atomic_file_commit(&file, &cause);
        }
        tui_say(page->tui, "%s%s%s%s", cause ? " cannot write " : " written: ", name, cause ? ": " : "",
                text_or_empty(cause));
    }
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
            text_clear(&page->tui->message);
        if (key_is_move(key, n, n, &rows))
            scroller_move(&page->table.scroller, rows);
        else if (key == 'L' || key_is_of(key, tui_toggle))
            cause = open_other(page, key == 'L');
        else if (key == 'W')
            ask_and_write(page);
        else if (key_is_of(key, tui_help))
            show_help(page->tui);
        else if (key_is_of(key, tui_redraw))
            screen_redraw();
    }
    return cause;
}

int scaling_screen_run(const struct shown_set *shown)
{
    struct tui tui = {.ascii = describe_in_ascii()};
    struct scaling_page page = {.tui = &tui, .shown = shown};
    const char *cause = screen_start(shown->has_mouse);
    page.table = (struct list){.help = " Up, Down: workers  Enter: open a run  L: losses  W: write  ?: help  q: quit",
                               .line = add_line,
                               .context = &page};
    text_add(&page.title, "scaling: ");
    text_add_clean_code(&page.title, shown->set->command, tui.ascii);
    tui.prompt.screen = (struct prompt_screen){draw, &page};
    if (!cause && !(cause = loop(&page)))
        screen_stop();
    if (cause)
        diag_error(NULL, "%s", cause);
    free(page.printed);
    vec_free(&page.lines);
    vec_free(&page.title);
    vec_free(&tui.message);
    vec_free(&tui.prompt.text);
    return cause ? 1 : 0;
}
