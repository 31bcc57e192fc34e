/* Commands that show another view or a page. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/text-pages.h"

/* Sorts a new view by the metric that another one is sorted by. */
static void sort_by_same_metric(struct view *view, const struct view *other)
{
    struct sorting sorting = view->sorting;
    const char *name = other->metrics->at[other->sorting.metric].name;
    size_t metric = metrics_find(view->metrics, name);
    if (metric < view->metrics->n)
        sorting.metric = metric;
    view_sort(view, sorting);
}

/* False if the user stopped it. */
static bool open_pane(struct tui *tui, struct pane *pane, struct view *view)
{
    sort_by_same_metric(view, tui_pane(tui)->view);
    pane_open(pane, view, tui->filters);
    bool is_there = view_row(view, 0)->is_expanded;
    if (!is_there)
        pane_close(pane);
    return is_there;
}

void tui_show_view(struct tui *tui, enum projection projection, enum view_id id)
{
    struct pane *pane = &tui->panes[projection][id];
    if (!pane->view) {
        struct view *view = session_view(tui->session, projection, id);
        bool is_there = view && open_pane(tui, pane, view);
        if (!is_there && (view || tui->session->outcome == STOPPED))
            text_add(&tui->message, "stopped");
        if (!is_there)
            return;
    }
    tui_take_kept_columns(tui, projection);
    pane_sort_by_shown(pane);
    tui->projection = projection;
    tui->id = id;
}

void tui_reopen(struct tui *tui, struct sorting sorting)
{
    struct view *view = session_view(tui->session, tui->projection, tui->id);
    if (!view) {
        tui->id = TOP_DOWN;
        view = session_view(tui->session, tui->projection, tui->id);
    }
    view_sort(view, sorting);
    tui->knows_headline = !tui->has_headline;
    pane_open(tui_pane(tui), view, tui->filters);
    tui_apply_filters(tui);
}

static void show_neighbor(struct tui *tui, int step)
{
    tui_show_view(tui, tui->projection, (enum view_id)(((int)tui->id + step + VIEWS) % VIEWS));
}

static void show_other_projection(struct tui *tui)
{
    enum projection other = tui->projection == LOGICAL ? PHYSICAL : LOGICAL;
    if (session_has_projection(tui->session, other))
        tui_show_view(tui, other, tui->id);
    else
        text_printf(&tui->message, "this database has no %s projection", projection_name(other));
}

bool tui_is_of_one_run(struct tui *tui, const char *what)
{
    if (session_is_comparison(tui->session))
        text_printf(&tui->message, "%s works with one database, not with a comparison", what);
    if (session_has_losses(tui->session))
        text_printf(&tui->message, "%s works with one run; Enter in the table of the set opens one",
                    what);
    return !session_is_merged(tui->session);
}

/* Whether it is no losses, which have neither summary nor advice. */
static bool is_no_loss(struct tui *tui, const char *what)
{
    return !session_has_losses(tui->session) || tui_is_of_one_run(tui, what);
}

static void show_summary(struct tui *tui)
{
    if (is_no_loss(tui, "the summary"))
        tui_report(tui, "summary", COMMAND_SUMMARY, print_summary);
}

static void show_advice(struct tui *tui)
{
    if (is_no_loss(tui, "advice"))
        tui_advice(tui);
}

bool tui_obey_views(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_TOP_DOWN: tui_show_view(tui, tui->projection, TOP_DOWN); break;
    case COMMAND_BOTTOM_UP: tui_show_view(tui, tui->projection, BOTTOM_UP); break;
    case COMMAND_FLAT: tui_show_view(tui, tui->projection, FLAT); break;
    case COMMAND_SUMMARY: show_summary(tui); break;
    case COMMAND_NEXT_VIEW: show_neighbor(tui, 1); break;
    case COMMAND_PREVIOUS_VIEW: show_neighbor(tui, -1); break;
    case COMMAND_PROJECTION: show_other_projection(tui); break;
    case COMMAND_ADVICE: show_advice(tui); break;
    default: return false;
    }
    return true;
}
