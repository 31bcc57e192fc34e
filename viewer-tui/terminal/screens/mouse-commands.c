/* Clicks and the wheel of the mouse. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/terminal/screen.h"

/* Lines that a notch of the wheel scrolls. */
#define NOTCH 3

static void select_row(struct tui *tui, size_t number)
{
    struct pane *pane = tui_pane(tui);
    pane_move(pane, (long)number - (long)pane->selected);
    tui->source_scroll = (struct source_scroll){0};
}

/* Clicking the selected row opens or closes it, as clicking a marker does. */
static void click_row(struct tui *tui, struct mouse mouse)
{
    struct pane *pane = tui_pane(tui);
    size_t number = pane->top + (size_t)(mouse.line - tui->layout.tree.line);
    if (number >= pane->shown.n)
        return;
    bool toggles = number == pane->selected || tui_is_marker(tui, number, mouse.column);
    select_row(tui, number);
    if (toggles)
        tui_obey_moves(tui, COMMAND_TOGGLE);
}

static void click(struct tui *tui, struct mouse mouse)
{
    enum command command = tui_command_at(mouse.column);
    if (mouse.line == tui->layout.title)
        tui->next = command;
    else if (area_contains(tui->layout.heads, mouse.line, mouse.column))
        tui_sort_by_column(tui, tui_sorting_at(tui, mouse.column));
    else if (area_contains(tui->layout.tree, mouse.line, mouse.column))
        click_row(tui, mouse);
}

static void roll(struct tui *tui, struct mouse mouse, long lines)
{
    int height = tui->layout.tree.height;
    if (area_contains(tui->layout.source, mouse.line, mouse.column))
        tui->source_scroll.lines += lines;
    else
        pane_roll(tui_pane(tui), lines, height > 0 ? (size_t)height : 1);
}

bool tui_obey_mouse(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_CLICK: click(tui, screen_mouse()); break;
    case COMMAND_ROLL_UP: roll(tui, screen_mouse(), -NOTCH); break;
    case COMMAND_ROLL_DOWN: roll(tui, screen_mouse(), NOTCH); break;
    default: return false;
    }
    return true;
}
