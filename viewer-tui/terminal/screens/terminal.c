#include "viewer-tui/terminal/screens/terminal.h"

#include "lib/diag.h"
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-advice.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most open rows that leave room for more on the smallest usual screen (80x24). */
#define FEW_ROWS 6

/* Smallest share of its parent's cost of a child on a hot path; key T changes it. */
#define HOT_SHARE 0.5

/* A width at which every paragraph is one line. */
#define WHOLE_PARAGRAPH 100000

/* ---- questions ---- */

/* Draws the screen, and returns the line of the status. */
static int draw_around_question(void *context)
{
    struct tui *tui = context;
    tui_show(tui);
    return tui->areas[PART_STATUS].line < screen_height() ? tui->areas[PART_STATUS].line : screen_height() - 1;
}

const char *tui_ask(struct tui *tui, const char *question, const char *initial,
                    void (*changed)(void *tui, const char *text))
{
    tui->prompt.question = question;
    tui->prompt.changed = changed;
    tui->prompt.asker = tui->command;
    const char *answer = prompt_ask(&tui->prompt, initial);
    tui->prompt.changed = NULL;
    return answer;
}

double tui_ask_percent(struct tui *tui, const char *question, double initial, const char *hint)
{
    char before[32] = "", *end;
    if (initial >= 0)
        snprintf(before, sizeof before, "%g", initial);
    const char *answer = tui_ask(tui, question, before, NULL);
    if (!answer)
        return NAN;
    double percent = strtod(answer, &end);
    bool is_number = *end == '\0' && (end != answer || initial < 0);
    if (is_number && percent >= 0 && percent <= 100)
        return percent;
    tui_say(tui, "enter a number from 0 to 100%s", hint);
    return NAN;
}

/* ---- the loop ---- */

/* Shows once what is wrong with the database. */
static void say_problem(struct tui *tui)
{
    if (problem_text() && !tui->has_said_problem) {
        text_clear(&tui->message);
        tui_say(tui, "%s", problem_text());
        tui->has_said_problem = true;
    }
}

/* A progress_listener: stops for a key. */
static bool stop_for_key(const char *what, int percent)
{
    (void)what;
    (void)percent;
    return !screen_key_pressed();
}

/* Shows the first line of the advice on the whole program as soon as it is known. A key stops the search, which begins
 * again after the key's command. */
static void show_headline(struct tui *tui)
{
    struct advice_lines lines = {.width = WHOLE_PARAGRAPH, .ascii = tui->ascii};
    const char *title;
    if (tui->knows_headline || tui->next)
        return;
    struct view *view = session_view(tui->session, tui->projection, TOP_DOWN);
    if (view && !screen_key_pressed()) {
        progress_listen(stop_for_key, KEY_PERIOD);
        enum outcome outcome = session_describe_advice(tui->session, view, 0, &lines, &title, &tui->has_headline);
        progress_listen(tui_tell_progress, PROGRESS_PERIOD);
        tui->knows_headline = outcome == DONE;
        text_clear(&tui->headline);
    }
    say_problem(tui);
    if (tui->knows_headline) {
        const char *first = text_string(&lines.text) + strspn(text_string(&lines.text), " ");
        if (tui->has_headline)
            text_printf(&tui->headline, "advice: %.*s", (int)strcspn(first, "\n"), first);
        else
            screen_redraw(); /* all lines move up; terminals of the type "ansi" lose some without this */
        tui_show(tui);
    }
    tui->has_headline |= !tui->knows_headline;
    vec_free(&lines.text);
}

void tui_say_unknown(struct tui *tui, int key)
{
    if (key > 0 && key < KEY_RUBOUT)
        tui_say(tui, "%s%c does nothing here; ? lists the keys", key < ' ' ? "^" : "", key < ' ' ? key + '@' : key);
}

/* Runs until the user quits or the terminal is gone. */
static void loop(struct tui *tui)
{
    while (!tui->has_quit) {
        tui_show(tui);
        show_headline(tui);
        int key = tui->next ? KEY_NOTHING : screen_key();
        const struct command *command = tui->next ? tui->next : command_of_key(key);
        tui->next = NULL;
        text_clear(&tui->message);
        if (key == KEY_GONE)
            return;
        if (command)
            tui_obey(tui, command);
        else
            tui_say_unknown(tui, key);
        if (tui->has_quit)
            return;
        tui_apply_filters(tui);
        say_problem(tui);
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
    tui_take_kept_columns(tui, tui->projection, view);
    return 0;
}

static void close_tui(struct tui *tui)
{
    tui_close_panes(tui);
    for (int p = 0; p < PROJECTIONS; p++)
        column_choice_free(&tui->columns[p]);
    sources_free(&tui->sources);
    pattern_free(tui->wanted);
    tui_forget_places(tui);
    vec_free(&tui->shown_columns);
    vec_free(&tui->source.costs);
    vec_free(&tui->source.missing);
    vec_free(&tui->headline);
    vec_free(&tui->prompt.text);
    history_free(&tui->answers);
    vec_free(&tui->message);
}

/* Shows the tree open along the hot path, and opens the row where it branches if few rows are open then, unless it is
 * to start closed; then runs the loop. */
static void run(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    tui->prompt =
        (struct prompt){.screen = {draw_around_question, tui}, .message = &tui->message, .history = &tui->answers};
    tui_apply_filters(tui);
    if (tui->has_headline) {
        tui_follow_hot_path(tui);
        bool is_closed = pane_can_open(pane, pane_row(pane)) && !pane_is_open(pane, pane_row(pane));
        if (is_closed && pane->shown.n < FEW_ROWS)
            pane_open_row(pane);
        tui->source_scroll.at_hottest = true;
    }
    if (view_row(pane->view, 0)->n_children == 0)
        tui_say(tui, "nothing was recorded; press 5 for the summary, ? for the keys");
    say_problem(tui);
    loop(tui);
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
                      .has_headline = !options->starts_closed,
                      .knows_headline = options->starts_closed,
                      .shows_source = true};
    int status = open_first_view(&tui, options->sort);
    const char *cause = status == 0 ? screen_start(options->has_mouse) : NULL;
    if (cause) {
        diag_error(NULL, "%s", cause);
        status = 1;
    } else if (status == 0) {
        progress_listen(tui_tell_progress, PROGRESS_PERIOD);
        run(&tui);
        progress_listen(NULL, PROGRESS_PERIOD);
        screen_stop();
    }
    close_tui(&tui);
    return status;
}
