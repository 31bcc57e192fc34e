/* Commands for metrics, columns and sorting. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>

static bool has_kinds(const struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n; m++)
        if (metrics->at[m].kind.name)
            return true;
    return false;
}

static void show_kinds_or_not(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (!has_kinds(pane->view->metrics)) {
        text_add(&tui->message, "this database has no kinds of overhead");
        return;
    }
    session_show(tui->session, tui->session->set == SET_KINDS ? SET_CHOSEN : SET_KINDS);
    pane_sort_by_shown(pane);
}

static void say_why_not_measured(struct tui *tui, const struct metric *metric)
{
    if (metric_is_measured(metric))
        return;
    text_add_clean(&tui->message, metric->name, tui->ascii);
    text_add(&tui->message, " was not measured: ");
    text_add_clean(&tui->message, metric->why, tui->ascii);
}

/* Sorts by the next column that is not hidden, even if it does not fit; by name after the last one. */
static void sort_by_neighbor(struct tui *tui, long step)
{
    struct pane *pane = tui_pane(tui);
    struct column_choice *choice = &tui->columns[tui->projection];
    struct sorting sorting = pane->view->sorting;
    column_choice_follow(choice, pane->view->metrics);
    struct columns columns = column_choice_shown(choice, pane->view->metrics);
    long n = (long)columns.n, at = 0;
    while (at < n && (sorting.by_name || columns.at[at].metric != sorting.metric ||
                      columns.at[at].part != sorting.part))
        at++;
    at = (at + n + 1 + step) % (n + 1);
    sorting.by_name = at == n;
    sorting.is_reversed = false;
    if (!sorting.by_name) {
        sorting.metric = columns.at[at].metric;
        sorting.part = columns.at[at].part;
        say_why_not_measured(tui, &pane->view->metrics->at[sorting.metric]);
    }
    free(columns.at);
    pane_sort(pane, sorting);
    tui_scroll_to_sorted(tui);
}

void tui_sort_by_column(struct tui *tui, struct sorting sorting)
{
    struct pane *pane = tui_pane(tui);
    const struct sorting *now = &pane->view->sorting;
    bool is_same = sorting.by_name ? now->by_name
                                   : !now->by_name && sorting.metric == now->metric &&
                                         sorting.part == now->part;
    if (!sorting.by_name)
        say_why_not_measured(tui, &pane->view->metrics->at[sorting.metric]);
    sorting.is_reversed = is_same && !now->is_reversed;
    pane_sort(pane, sorting);
}

static void reverse_sorting(struct tui *tui)
{
    struct sorting sorting = tui_pane(tui)->view->sorting;
    sorting.is_reversed = !sorting.is_reversed;
    pane_sort(tui_pane(tui), sorting);
}

/* Sorts by the metric that was just defined, and shows its value for the whole program. */
static void sort_by_defined(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    const struct metrics *metrics = pane->view->metrics;
    const struct metric *metric = &metrics->at[metrics->n - 1];
    char total[NUMBER_WITH_UNIT_SIZE];
    columns_alone(metric, view_total(pane->view, metrics->n - 1), total);
    text_add_clean(&tui->message, metric->name, tui->ascii);
    text_printf(&tui->message, ": %s", total);
    if (metric_is_measured(metric))
        text_add(&tui->message, " in the whole program");
    else
        say_why_not_measured(tui, metric);
    pane_sort(pane, (struct sorting){.metric = metrics->n - 1, .part = pane->view->sorting.part});
    tui_scroll_to_sorted(tui);
}

/* Asks for a definition until it is valid. */
static void define_metric(struct tui *tui)
{
    struct text prompt = {0}, definition = {0};
    struct formula_error error;
    text_add(&prompt, "NAME = FORMULA of $METRIC: ");
    for (;;) {
        const char *answer = tui_ask(tui, text_string(&prompt), text_string(&definition), NULL);
        if (!answer || !*answer)
            break;
        text_clear(&definition);
        text_add(&definition, answer);
        if (session_define_now(tui->session, tui->projection, text_string(&definition), &error)) {
            sort_by_defined(tui);
            break;
        }
        text_clear(&prompt);
        text_add_clean(&prompt, error.what, tui->ascii);
        text_printf(&prompt, " (character %zu): ", error.at + 1);
    }
    vec_free(&prompt);
    vec_free(&definition);
}

/* Scrolls by one column, as far as there are columns beyond the screen. */
static void scroll_columns(struct tui *tui, int step)
{
    struct column_choice *choice = &tui->columns[tui->projection];
    const struct view *view = tui_pane(tui)->view;
    column_choice_follow(choice, view->metrics);
    struct columns all = column_choice_shown(choice, view->metrics);
    choice->is_made = true;
    struct columns seen = tui_columns(tui, screen_width());
    if (step > 0 && choice->first + seen.n < all.n)
        choice->first++;
    if (step < 0 && choice->first > 0)
        choice->first--;
    free(seen.at);
    seen = tui_columns(tui, screen_width());
    if (seen.n)
        text_printf(&tui->message, "columns %zu to %zu of %zu", choice->first + 1,
                    choice->first + seen.n, all.n);
    free(seen.at);
    free(all.at);
}

bool tui_obey_metrics(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_SORT_RIGHT: sort_by_neighbor(tui, 1); break;
    case COMMAND_SORT_LEFT: sort_by_neighbor(tui, -1); break;
    case COMMAND_REVERSE: reverse_sorting(tui); break;
    case COMMAND_DEFINE: define_metric(tui); break;
    case COMMAND_COLUMNS: tui_choose_columns(tui); break;
    case COMMAND_COLUMNS_RIGHT: scroll_columns(tui, 1); break;
    case COMMAND_COLUMNS_LEFT: scroll_columns(tui, -1); break;
    case COMMAND_BARS: tui->cells.has_bars = !tui->cells.has_bars; break;
    case COMMAND_INSPECT: tui_inspect(tui); break;
    case COMMAND_DISASSEMBLE: tui_disassemble(tui); break;
    case COMMAND_KINDS: show_kinds_or_not(tui); break;
    default: return false;
    }
    return true;
}
