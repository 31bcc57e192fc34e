/* The mouse: what was clicked at, and the wheel. */
#include "viewer-tui/terminal/screens/commands.h"

#include "viewer-tui/terminal/screen.h"

/* Lines for a notch of the wheel. */
#define NOTCH 3

static void select_row(struct tui *tui, size_t number)
{
    struct pane *pane = tui_pane(tui);
    pane_move(pane, (long)number - (long)pane->selected);
    tui->source_scroll = (struct source_scroll){0};
}

/* A second click on a row opens or closes it, as the first one on its marker does. */
static void click(struct tui *tui, const struct spot *spot)
{
    struct pane *pane = tui_pane(tui);
    bool was_selected = spot->number == pane->selected;
    switch (spot->kind) {
    case SPOT_COMMAND:
        if (!tui_obey_views(tui, (enum command)spot->number))
            tui_obey_threads(tui, (enum command)spot->number);
        break;
    case SPOT_HEAD: tui_sort_by_column(tui, spot->sorting); break;
    case SPOT_ROW:
    case SPOT_MARKER:
        select_row(tui, spot->number);
        if (was_selected || spot->kind == SPOT_MARKER)
            tui_obey_moves(tui, COMMAND_TOGGLE);
        break;
    default: break;
    }
}

static void roll(struct tui *tui, const struct spot *spot, long lines)
{
    if (spot->kind == SPOT_SOURCE)
        tui->source_scroll.lines += lines;
    else
        pane_roll(tui_pane(tui), lines, tui->tree_height > 0 ? (size_t)tui->tree_height : 1);
}

bool tui_obey_mouse(struct tui *tui, enum command command)
{
    struct mouse mouse = screen_mouse();
    struct spot spot = spots_at(&tui->spots, mouse.line, mouse.column);
    switch (command) {
    case COMMAND_CLICK: click(tui, &spot); break;
    case COMMAND_ROLL_UP: roll(tui, &spot, -NOTCH); break;
    case COMMAND_ROLL_DOWN: roll(tui, &spot, NOTCH); break;
    default: return false;
    }
    return true;
}
