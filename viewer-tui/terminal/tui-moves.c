/* Commands that move in the tree, or open and close parts of it. */
#include "viewer-tui/terminal/tui.h"

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

bool tui_obey_moves(struct tui *tui, enum command command)
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
    default: return false;
    }
    tui->source_scroll = 0;
    return true;
}
