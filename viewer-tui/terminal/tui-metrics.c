/* Commands that say which metrics are shown and what rows are sorted by. */
#include "viewer-tui/terminal/tui.h"

void tui_sort_by_shown(struct pane *pane)
{
    const struct metrics *metrics = pane->view->metrics;
    struct sorting sorting = pane->view->sorting;
    const struct metric *metric = &metrics->at[sorting.metric];
    if (metric->is_in[metrics->set])
        return;
    bool is_kind = metric->kind_of != METRIC_ABSENT;
    sorting.metric = is_kind ? (size_t)metric->kind_of : metrics_first_measured(metrics);
    pane_sort(pane, sorting);
}

static bool has_kinds(const struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n; m++)
        if (metrics->at[m].kind)
            return true;
    return false;
}

static void show_kinds_or_not(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (!has_kinds(pane->view->metrics)) {
        text_add(&tui->message, "this database does not tell kinds of overhead apart");
        return;
    }
    session_show(tui->session, tui->session->set == SET_KINDS ? SET_CHOSEN : SET_KINDS);
    tui_sort_by_shown(pane);
}

/* The columns that can be sorted by, in their order: both parts of every metric, then the name. */
static bool can_be_sorted_by(const struct view *view, long column)
{
    const struct metrics *metrics = view->metrics;
    size_t metric = (size_t)column / 2;
    return metric == metrics->n || metrics->at[metric].is_in[metrics->set];
}

static void sort_by_neighbour(struct tui *tui, long step)
{
    struct pane *pane = tui_pane(tui);
    struct sorting sorting = pane->view->sorting;
    long n = 2 * (long)pane->view->metrics->n + 1;
    long at = sorting.by_name ? n - 1 : 2 * (long)sorting.metric + (sorting.part == EXCLUSIVE);
    do
        at = (at + n + step) % n;
    while (!can_be_sorted_by(pane->view, at));
    sorting.by_name = at == n - 1;
    sorting.is_reversed = false;
    if (!sorting.by_name) {
        sorting.metric = (size_t)at / 2;
        sorting.part = at % 2 ? EXCLUSIVE : INCLUSIVE;
        const struct metric *metric = &pane->view->metrics->at[sorting.metric];
        if (!metric_is_measured(metric)) {
            text_add_clean(&tui->message, metric->name, tui->ascii);
            text_add(&tui->message, " was not measured: ");
            text_add_clean(&tui->message, metric->why, tui->ascii);
        }
    }
    pane_sort(pane, sorting);
}

static void reverse_sorting(struct tui *tui)
{
    struct sorting sorting = tui_pane(tui)->view->sorting;
    sorting.is_reversed = !sorting.is_reversed;
    pane_sort(tui_pane(tui), sorting);
}

bool tui_obey_metrics(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_SORT_RIGHT: sort_by_neighbour(tui, 1); break;
    case COMMAND_SORT_LEFT: sort_by_neighbour(tui, -1); break;
    case COMMAND_REVERSE: reverse_sorting(tui); break;
    case COMMAND_KINDS: show_kinds_or_not(tui); break;
    default: return false;
    }
    return true;
}
