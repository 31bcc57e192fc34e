#include "viewer-tui/terminal/screens/terminal.h"

#include "lib/diag.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/output/print.h"
#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/source-pane.h"
#include "viewer-tui/terminal/screens/text-pages.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>

/* Most open rows that leave room for more on the smallest usual screen (80x24). */
#define FEW_ROWS 6

/* Smallest share of its parent's cost of a child on a hot path; key T changes it. */
#define HOT_SHARE 0.5

#define RUBOUT 0x7f

/* Shows once what is wrong with the database. */
static void say_problem(struct tui *tui)
{
    if (problem_text() && !tui->has_said_problem) {
        text_clear(&tui->message);
        text_add_clean(&tui->message, problem_text(), tui->ascii);
        tui->has_said_problem = true;
    }
}

/* The families of commands; the first one that knows a command carries it out. */
static bool (*const obeys[])(struct tui *tui, enum command command) = {
    tui_obey_moves,  tui_obey_views,  tui_obey_metrics, tui_obey_finding, tui_obey_filters,
    tui_obey_places, tui_obey_source, tui_obey_threads, tui_obey_output,  tui_obey_mouse,
};

static void obey(struct tui *tui, enum command command)
{
    size_t i = 0;
    tui->command = command;
    while (i < sizeof obeys / sizeof *obeys && !obeys[i](tui, command))
        i++;
    if (command == COMMAND_REDRAW)
        screen_redraw();
    else if (command == COMMAND_HELP)
        tui_help(tui);
    tui_apply_filters(tui);
    say_problem(tui);
}

/* Says that a key has no command. */
static void say_no_such_key(struct tui *tui, int key)
{
    if (key > ' ' && key < RUBOUT)
        text_printf(&tui->message, "%c does nothing here; ? lists the keys", key);
    else if (key > 0 && key < ' ')
        text_printf(&tui->message, "^%c does nothing here; ? lists the keys", key + '@');
}

/* Shows the first line of the advice as soon as it is known. A key stops the search, which begins
 * again after the key's command. */
static void show_headline(struct tui *tui)
{
    if (tui->knows_headline || tui->next != COMMAND_NONE)
        return;
    tui->knows_headline = tui_find_headline(tui);
    say_problem(tui);
    if (!tui->knows_headline)
        return;
    tui->has_headline = tui->headline.n > 0;
    if (!tui->has_headline)
        screen_redraw(); /* all lines move up; terminals of the type "ansi" lose some without this */
    tui_show(tui);
}

/* Runs until the user quits or the terminal is gone. */
static void loop(struct tui *tui)
{
    for (;;) {
        tui_show(tui);
        show_headline(tui);
        int key = tui->next == COMMAND_NONE ? screen_key() : KEY_NOTHING;
        enum command command = tui->next == COMMAND_NONE ? keys_command(key) : tui->next;
        tui->next = COMMAND_NONE;
        text_clear(&tui->message);
        if (key == KEY_GONE)
            return;
        if (command == COMMAND_QUIT && tui_leave_restriction(tui))
            continue;
        if (command == COMMAND_QUIT)
            return;
        tui_obey_and_remember(tui, command, obey);
        if (command == COMMAND_NONE)
            say_no_such_key(tui, key);
    }
}

/* Opens the first view before the terminal is taken over: errors are then reported on stderr. */
static int open_first_view(struct tui *tui, const char *sort)
{
    struct view *view = session_view(tui->session, tui->projection, tui->id);
    if (!view)
        return session_exit_status(tui->session);
    struct sorting sorting = view->sorting;
    if (!print_sorting(tui->session, view->metrics, sort, &sorting))
        return 2;
    view_sort(view, sorting);
    pane_open(tui_pane(tui), view, tui->filters);
    tui_take_kept_columns(tui, tui->projection);
    return 0;
}

/* Explains an empty tree. */
static void say_if_empty(struct tui *tui)
{
    if (view_row(tui_pane(tui)->view, 0)->n_children == 0)
        text_add(&tui->message, "nothing was recorded; press 5 for the summary, ? for the keys");
}

static void close_tui(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
        column_choice_free(&tui->columns[p]);
    }
    sources_free(&tui->sources);
    pattern_free(tui->wanted);
    places_free(&tui->places);
    free(tui->shown_columns.at);
    tui_free_source(tui);
    vec_free(&tui->headline);
    vec_free(&tui->asked.text);
    history_free(&tui->answers);
    vec_free(&tui->message);
}

/* Opens the tree along the hot path, and the row where it branches if few rows are open then. */
static void open_along_hot_path(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    tui_follow_hot_path(tui);
    bool is_closed = pane_can_open(pane, pane_row(pane)) && !pane_is_open(pane, pane_row(pane));
    if (is_closed && pane->shown.n < FEW_ROWS)
        pane_expand(pane);
    tui->source_scroll.at_hottest = true;
}

int terminal_run(struct session *session, const struct terminal_options *options)
{
    struct tui tui = {.session = session,
                      .projection = options->projection,
                      .id = TOP_DOWN,
                      .sources = {.rules = session->rules},
                      .ascii = describe_in_ascii(),
                      .kept_columns = options->columns,
                      .cells = {.has_bars = options->has_bars, .ascii = describe_in_ascii()},
                      .filters = options->filters,
                      .hot_share = HOT_SHARE,
                      .shows_source = true};
    int status = open_first_view(&tui, options->sort);
    const char *cause = status == 0 ? screen_start(options->has_mouse) : NULL;
    if (cause) {
        diag_error(NULL, "%s", cause);
        status = 1;
    } else if (status == 0) {
        progress_listen(tui_tell_progress);
        tui_apply_filters(&tui);
        tui.has_headline = !options->starts_closed;
        tui.knows_headline = options->starts_closed;
        if (!options->starts_closed) {
            open_along_hot_path(&tui);
        }
        say_if_empty(&tui);
        say_problem(&tui);
        loop(&tui);
        progress_listen(NULL);
        screen_stop();
    }
    close_tui(&tui);
    return status;
}
