#include "viewer-tui/tui.h"

#include "lib/diag.h"
#include "viewer-tui/describe.h"
#include "viewer-tui/keys.h"
#include "viewer-tui/line-edit.h"
#include "viewer-tui/print.h"
#include "viewer-tui/problem.h"
#include "viewer-tui/screen.h"
#include "viewer-tui/search.h"

#include <stdlib.h>

/* Tells the user once what is wrong with the database. */
static void say_problem(struct tui *tui)
{
    if (problem_text() && !tui->has_said_problem) {
        text_clear(&tui->message);
        text_add_clean(&tui->message, problem_text(), tui->ascii);
        tui->has_said_problem = true;
    }
}

/* Sorts a new view by the metric by which another one is sorted. */
static void sort_by_same_metric(struct view *view, const struct view *other)
{
    struct sorting sorting = view->sorting;
    const char *name = other->db->metrics.at[other->sorting.metric].name;
    size_t metric = metrics_find(&view->db->metrics, name);
    if (metric < view->n_metrics)
        sorting.metric = metric;
    view_sort(view, sorting);
}

/* Sorts by something that is shown: by overhead rather than by a kind of it. */
static void sort_by_shown(struct pane *pane)
{
    const struct metrics *metrics = &pane->view->db->metrics;
    struct sorting sorting = pane->view->sorting;
    const struct metric *metric = &metrics->at[sorting.metric];
    if (metric->is_in[metrics->set])
        return;
    bool is_kind = metric->kind_of != METRIC_ABSENT;
    sorting.metric = is_kind ? (size_t)metric->kind_of : metrics_first_measured(metrics);
    pane_sort(pane, sorting);
}

/* Shows a view of a projection, which is made if need be; stays where it is when that fails. */
static void show_view(struct tui *tui, enum projection projection, enum view_id id)
{
    struct pane *pane = &tui->panes[projection][id];
    if (!pane->view) {
        if (!session_has_view(tui->session, projection, id))
            tui_announce("reading all calling contexts ...");
        struct view *view = session_view(tui->session, projection, id);
        if (!view) {
            say_problem(tui);
            return;
        }
        sort_by_same_metric(view, tui_pane(tui)->view);
        pane_open(pane, view);
    }
    sort_by_shown(pane);
    tui->projection = projection;
    tui->id = id;
    say_problem(tui);
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
    if (!has_kinds(&pane->view->db->metrics)) {
        text_add(&tui->message, "this database does not tell kinds of overhead apart");
        return;
    }
    session_show(tui->session, tui->session->set == SET_KINDS ? SET_CHOSEN : SET_KINDS);
    sort_by_shown(pane);
}

/* The columns that can be sorted by, in their order: both parts of every metric, then the name. */
static bool can_be_sorted_by(const struct view *view, long column)
{
    const struct metrics *metrics = &view->db->metrics;
    size_t metric = (size_t)column / 2;
    return metric == metrics->n || metrics->at[metric].is_in[metrics->set];
}

static void sort_by_neighbour(struct tui *tui, long step)
{
    struct pane *pane = tui_pane(tui);
    struct sorting sorting = pane->view->sorting;
    long n = 2 * (long)pane->view->n_metrics + 1;
    long at = sorting.by_name ? n - 1 : 2 * (long)sorting.metric + (sorting.part == EXCLUSIVE);
    do
        at = (at + n + step) % n;
    while (!can_be_sorted_by(pane->view, at));
    sorting.by_name = at == n - 1;
    sorting.is_reversed = false;
    if (!sorting.by_name) {
        sorting.metric = (size_t)at / 2;
        sorting.part = at % 2 ? EXCLUSIVE : INCLUSIVE;
        const struct metric *metric = &pane->view->db->metrics.at[sorting.metric];
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

static void find_again(struct tui *tui, bool backwards)
{
    struct pane *pane = tui_pane(tui);
    if (!tui->wanted) {
        text_add(&tui->message, "nothing to find yet: press /");
        return;
    }
    tui_announce("searching ... (Esc stops)");
    struct search search = {.view = pane->view,
                            .root = pane->root,
                            .text = tui->wanted,
                            .backwards = backwards,
                            .is_cancelled = screen_escape_pressed};
    uint32_t row = search_next(&search, pane_row(pane));
    if (row != NOTHING)
        pane_select(pane, row);
    if (row != NOTHING && search.has_wrapped)
        text_add(&tui->message, "went on at the other end");
    if (row == NOTHING) {
        text_add(&tui->message, search.was_cancelled ? "not found yet: " : "not found: ");
        text_add_clean(&tui->message, tui->wanted, tui->ascii);
    }
    say_problem(tui);
}

/* Asks what to find; without an answer it is what was searched for last. */
static void find(struct tui *tui)
{
    enum edit edit = EDIT_GOES_ON;
    text_clear(&tui->asked);
    tui->is_asking = true;
    while (edit == EDIT_GOES_ON) {
        tui_draw(tui);
        edit = edit_line(&tui->asked, screen_key());
    }
    tui->is_asking = false;
    if (edit == EDIT_GIVEN_UP)
        return;
    if (tui->asked.n) {
        free(tui->wanted);
        tui->wanted = mem_strdup(text_string(&tui->asked));
    }
    find_again(tui, false);
}

static void go_left(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row) && pane_can_open(pane, row))
        pane_collapse(pane);
    else if (row != pane->root)
        pane_select(pane, view_row(pane->view, row)->parent);
}

static void go_right(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (!pane_can_open(pane, row))
        return;
    if (!pane_is_open(pane, row))
        pane_expand(pane);
    else
        pane_move(pane, 1);
}

static void go_up_the_tree(struct pane *pane)
{
    if (pane_row(pane) != pane->root)
        pane_select(pane, view_row(pane->view, pane_row(pane))->parent);
}

static void toggle(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row))
        pane_collapse(pane);
    else if (pane_can_open(pane, row))
        pane_expand(pane);
}

static void zoom_out(struct tui *tui)
{
    if (!pane_zoom_out(tui_pane(tui)))
        text_add(&tui->message, "this is the whole program");
}

/* Commands that move or change the tree. */
static void obey_in_tree(struct tui *tui, enum command command)
{
    struct pane *pane = tui_pane(tui);
    long page = tui->tree_height > 1 ? tui->tree_height - 1 : 1;
    switch (command) {
    case COMMAND_UP: pane_move(pane, -1); break;
    case COMMAND_DOWN: pane_move(pane, 1); break;
    case COMMAND_PAGE_UP: pane_move(pane, -page); break;
    case COMMAND_PAGE_DOWN: pane_move(pane, page); break;
    case COMMAND_HALF_UP: pane_move(pane, -(page + 1) / 2); break;
    case COMMAND_HALF_DOWN: pane_move(pane, (page + 1) / 2); break;
    case COMMAND_FIRST: pane_move(pane, -(long)pane->shown.n); break;
    case COMMAND_LAST: pane_move(pane, (long)pane->shown.n); break;
    case COMMAND_RIGHT: go_right(pane); break;
    case COMMAND_LEFT: go_left(pane); break;
    case COMMAND_PARENT: go_up_the_tree(pane); break;
    case COMMAND_TOGGLE: toggle(pane); break;
    case COMMAND_EXPAND: pane_expand(pane); break;
    case COMMAND_COLLAPSE: pane_collapse(pane); break;
    case COMMAND_HOT_PATH: pane_hot_path(pane); break;
    case COMMAND_ZOOM_IN: pane_zoom_in(pane); break;
    case COMMAND_ZOOM_OUT: zoom_out(tui); break;
    default: return;
    }
    tui->source_scroll = 0;
    say_problem(tui);
}

static void show_neighbour(struct tui *tui, int step)
{
    show_view(tui, tui->projection, (enum view_id)(((int)tui->id + step + VIEWS) % VIEWS));
}

static void show_other_projection(struct tui *tui)
{
    enum projection other = tui->projection == LOGICAL ? PHYSICAL : LOGICAL;
    if (session_has_projection(tui->session, other))
        show_view(tui, other, tui->id);
    else
        text_printf(&tui->message, "this database has no %s projection", projection_name(other));
}

/* All other commands; false when the user wants to quit. */
static bool obey(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_TOP_DOWN: show_view(tui, tui->projection, TOP_DOWN); break;
    case COMMAND_BOTTOM_UP: show_view(tui, tui->projection, BOTTOM_UP); break;
    case COMMAND_FLAT: show_view(tui, tui->projection, FLAT); break;
    case COMMAND_THREADS: tui_report(tui, "threads", print_threads); break;
    case COMMAND_SUMMARY: tui_report(tui, "summary", print_summary); break;
    case COMMAND_NEXT_VIEW: show_neighbour(tui, 1); break;
    case COMMAND_PREVIOUS_VIEW: show_neighbour(tui, -1); break;
    case COMMAND_PROJECTION: show_other_projection(tui); break;
    case COMMAND_SORT_RIGHT: sort_by_neighbour(tui, 1); break;
    case COMMAND_SORT_LEFT: sort_by_neighbour(tui, -1); break;
    case COMMAND_REVERSE: reverse_sorting(tui); break;
    case COMMAND_KINDS: show_kinds_or_not(tui); break;
    case COMMAND_FIND: find(tui); break;
    case COMMAND_FIND_NEXT: find_again(tui, false); break;
    case COMMAND_FIND_PREVIOUS: find_again(tui, true); break;
    case COMMAND_SOURCE: tui->shows_source = !tui->shows_source; break;
    case COMMAND_CALL_SITE:
        tui->shows_call_site = !tui->shows_call_site;
        tui->source_scroll = 0;
        break;
    case COMMAND_SOURCE_UP: tui->source_scroll--; break;
    case COMMAND_SOURCE_DOWN: tui->source_scroll++; break;
    case COMMAND_REDRAW: screen_redraw(); break;
    case COMMAND_ADVICE: tui_advice(tui); break;
    case COMMAND_HELP: tui_help(tui); break;
    case COMMAND_QUIT: return false;
    default: obey_in_tree(tui, command); break;
    }
    return true;
}

static void loop(struct tui *tui)
{
    for (;;) {
        tui_draw(tui);
        int key = screen_key();
        if (key == KEY_GONE)
            return;
        text_clear(&tui->message);
        if (!obey(tui, keys_command(key)))
            return;
    }
}

/* Makes the first view before the terminal is taken over, so that its problems can be reported. */
static int open_first_view(struct tui *tui, const char *sort)
{
    struct view *view = session_view(tui->session, tui->projection, tui->id);
    if (!view)
        return tui->session->metric_list_is_bad ? 2 : 1;
    struct sorting sorting = view->sorting;
    if (!print_sorting(view->db, sort, &sorting))
        return 2;
    view_sort(view, sorting);
    pane_open(tui_pane(tui), view);
    return 0;
}

static void close_tui(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
        sources_free(&tui->sources[p]);
    }
    free(tui->wanted);
    vec_free(&tui->asked);
    vec_free(&tui->message);
}

int tui_run(struct session *session, enum projection projection, const char *sort)
{
    struct tui tui = {.session = session,
                      .projection = projection,
                      .id = TOP_DOWN,
                      .ascii = describe_in_ascii(),
                      .shows_source = true};
    int status = open_first_view(&tui, sort);
    const char *cause = status == 0 ? screen_start() : NULL;
    if (cause) {
        diag_error(NULL, "%s", cause);
        status = 1;
    } else if (status == 0) {
        say_problem(&tui);
        loop(&tui);
        screen_stop();
    }
    close_tui(&tui);
    return status;
}
