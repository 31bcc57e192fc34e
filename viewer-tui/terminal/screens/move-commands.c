/* Commands that move in the tree, or open and close parts of it. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/source-pane.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>

static void go_left(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row) && pane_can_open(pane, row))
        pane_collapse(pane);
    else
        pane_move_up_tree(pane);
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

static void toggle(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row) && !pane_folded_chain(pane, row))
        pane_collapse(pane);
    else if (pane_can_open(pane, row))
        pane_expand(pane);
}

/* If the path ends in code without source of the program's own, such as a futex, selects the nearest row
 * above that has a line of the program. The rows below it stay open. */
uint32_t tui_follow_hot_path(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    pane_hot_path(pane, tui->hot_share);
    uint32_t end = pane_row(pane);
    tui->source_scroll = (struct source_scroll){0};
    tui_go_to_own_call(tui);
    pane->shows_below = true;
    return end;
}

/* Most columns of a name in a message. */
#define MOST_NAME_COLUMNS 40

/* Says why the hot path ends in a row: the selected one, or one below it without source. */
static void say_why_it_ends(struct tui *tui, uint32_t end)
{
    struct pane *pane = tui_pane(tui);
    const struct view *view = pane->view;
    size_t metric = view->sorting.metric;
    const char *name = view->metrics->at[metric].name;
    uint32_t child = pane_hottest_child(pane, end, 0);
    struct text *out = &tui->message;
    text_add(out, "the hot path ends ");
    if (end != pane_row(pane)) {
        text_add(out, "below, in ");
        describe_short_name(view, end, tui->ascii, MOST_NAME_COLUMNS, out);
        text_add(out, ", whose source is not yours");
    } else if (child == end) {
        text_add(out, "here: no row below has ");
        text_add_clean(out, name, tui->ascii);
    } else {
        enum cost_part part = view->class->sorted_by;
        double whole = view_cost(pane->view, end, metric, part);
        text_add(out, "here: ");
        describe_short_name(view, child, tui->ascii, MOST_NAME_COLUMNS, out);
        text_printf(out, " has most of what is below, %.3g%% of this row's ",
                    100 * view_cost(pane->view, child, metric, part) / whole);
        text_add_clean(out, name, tui->ascii);
        text_printf(out, "; less than %g%% is not followed (T changes that)",
                    100 * tui->hot_share);
    }
}

static void follow_hot_path(struct tui *tui)
{
    uint32_t before = pane_row(tui_pane(tui)), end = tui_follow_hot_path(tui);
    if (pane_row(tui_pane(tui)) == before)
        say_why_it_ends(tui, end);
}

static void zoom_in(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (pane_row(pane) == pane->root)
        text_add(&tui->message, "the view begins with this row");
    else
        pane_zoom_in(pane);
}

static void zoom_out(struct tui *tui)
{
    if (!pane_zoom_out(tui_pane(tui)))
        text_add(&tui->message, "this is the whole program");
}

static void open_all(struct tui *tui)
{
    if (!pane_expand_all(tui_pane(tui)))
        text_printf(&tui->message, "not everything is open: stopped by Esc or at %d rows",
                    MOST_OPENED);
}

/* The share that an answer in percent means; NAN if it is invalid. */
static double share_in(const char *answer)
{
    char *end;
    double percent = strtod(answer, &end);
    bool is_one = end != answer && *end == '\0' && percent >= 0 && percent <= 100;
    return is_one ? percent / 100 : NAN;
}

static void ask_hot_share(struct tui *tui)
{
    struct text before = {0};
    text_printf(&before, "%g", 100 * tui->hot_share);
    const char *answer =
        tui_ask(tui, "smallest share of a hot child in percent: ", text_string(&before), NULL);
    double share = answer ? share_in(answer) : tui->hot_share;
    if (isnan(share))
        text_add(&tui->message, "enter a number from 0 to 100");
    else
        tui->hot_share = share;
    vec_free(&before);
}

static void flatten(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (pane->view->class->shows_callers)
        text_printf(&tui->message, "the %s view cannot be flattened", pane->view->class->name);
    else if (!pane_flatten(pane))
        text_add(&tui->message, "the rows of the first level have none below them");
}

static void unflatten(struct tui *tui)
{
    if (!pane_unflatten(tui_pane(tui)))
        text_add(&tui->message, "no level is flattened");
}

bool tui_obey_moves(struct tui *tui, enum command command)
{
    struct pane *pane = tui_pane(tui);
    long page = tui->layout.tree.height > 1 ? tui->layout.tree.height - 1 : 1;
    switch (command) {
    case COMMAND_UP:
    case COMMAND_DOWN:
    case COMMAND_PAGE_UP:
    case COMMAND_PAGE_DOWN:
    case COMMAND_HALF_UP:
    case COMMAND_HALF_DOWN:
    case COMMAND_FIRST:
    case COMMAND_LAST: pane_move(pane, command_rows(command, page, (long)pane->shown.n)); break;
    case COMMAND_RIGHT: go_right(pane); break;
    case COMMAND_LEFT: go_left(pane); break;
    case COMMAND_PARENT: pane_move_up_tree(pane); break;
    case COMMAND_TOGGLE: toggle(pane); break;
    case COMMAND_EXPAND: pane_expand(pane); break;
    case COMMAND_COLLAPSE: pane_collapse(pane); break;
    case COMMAND_EXPAND_ALL: open_all(tui); break;
    case COMMAND_COLLAPSE_ALL: pane_collapse_all(pane); break;
    case COMMAND_HOT_PATH: follow_hot_path(tui); return true;
    case COMMAND_HOT_SHARE: ask_hot_share(tui); break;
    case COMMAND_FLATTEN: flatten(tui); break;
    case COMMAND_UNFLATTEN: unflatten(tui); break;
    case COMMAND_ZOOM_IN: zoom_in(tui); break;
    case COMMAND_ZOOM_OUT: zoom_out(tui); break;
    default: return false;
    }
    tui->source_scroll = (struct source_scroll){0};
    return true;
}
