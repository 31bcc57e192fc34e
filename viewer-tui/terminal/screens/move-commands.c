/* Commands that move in the tree, or open and close parts of it, by keys or by the mouse. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>

/* Lines that a notch of the wheel scrolls. */
#define NOTCH 3

/* Most columns of a name in a message. */
#define MOST_NAME_COLUMNS 40

void tui_move(struct tui *tui)
{
    int move = tui->command->argument;
    struct scroller *scroller = &tui_pane(tui)->scroller;
    int page = tui->areas[PART_TREE].height > 1 ? tui->areas[PART_TREE].height - 1 : 1;
    scroller_move(scroller, move_rows((enum move)move, page, (long)scroller->n));
}

static void go_left(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row) && pane_can_open(pane, row))
        pane_collapse(pane);
    else
        pane_move_up_tree(pane);
}

static void go_right(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    if (pane_can_open(pane, row) && pane_is_open(pane, row))
        scroller_move(&pane->scroller, 1);
    else if (pane_can_open(pane, row))
        pane_expand(pane);
}

static void go_up_tree(struct tui *tui)
{
    pane_move_up_tree(tui_pane(tui));
}

const struct family moving_family = {
    "Moving", COMMANDS({"Up, k, ^P", "go one row up", tui_move, ROW_UP, MOVE},
                       {"Down, j, ^N", "go one row down", tui_move, ROW_DOWN, MOVE},
                       {"PgUp, ^B", "one page up", tui_move, PAGE_UP, MOVE},
                       {"PgDn, ^F", "one page down", tui_move, PAGE_DOWN, MOVE},
                       {"^U", "half a page up", tui_move, HALF_UP, MOVE},
                       {"^D", "half a page down", tui_move, HALF_DOWN, MOVE},
                       {"Home, g", "go to the first row", tui_move, FIRST_ROW, MOVE | JUMP},
                       {"End, G", "go to the last row", tui_move, LAST_ROW, MOVE | JUMP},
                       {"Right, l", "open the row; if open, go to its first child", go_right, 0, MOVE},
                       {"Left, h", "close the row; if closed, go to the row above in the tree", go_left, 0, MOVE},
                       {"u", "go to the row above in the tree", go_up_tree, 0, MOVE})};

void tui_toggle(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    if (pane_is_open(pane, row) && !pane_folded_chain(pane, row))
        pane_collapse(pane);
    else if (pane_can_open(pane, row))
        pane_expand(pane);
}

static void open_or_close(struct tui *tui)
{
    int opens = tui->command->argument;
    if (opens)
        pane_expand(tui_pane(tui));
    else
        pane_collapse(tui_pane(tui));
}

static void open_or_close_all(struct tui *tui)
{
    int opens = tui->command->argument;
    if (!opens)
        pane_collapse_all(tui_pane(tui));
    else if (!pane_expand_all(tui_pane(tui)))
        tui_say(tui, "not everything is open: stopped by Esc or at %d rows", MOST_OPENED);
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

/* Follows the path, or says why it ends in a row: the selected one, or one below it without source. */
static void follow_hot_path(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    const struct view *view = pane->view;
    uint32_t before = pane_row(pane), end = tui_follow_hot_path(tui);
    size_t metric = view->sorting.metric;
    struct text *out = &tui->message;
    if (pane_row(pane) != before)
        return;
    uint32_t child = pane_hottest_child(pane, end, 0);
    text_add(out, "the hot path ends ");
    if (end != before) {
        text_add(out, "below, in ");
        describe_short_name(view, end, tui->ascii, MOST_NAME_COLUMNS, out);
        text_add(out, ", whose source is not yours");
    } else if (child == end) {
        tui_say(tui, "here: no row below has %s", view->metrics->at[metric].name);
    } else {
        enum cost_part part = view->class->sorted_by;
        double whole = view_cost(pane->view, end, metric, part);
        text_add(out, "here: ");
        describe_short_name(view, child, tui->ascii, MOST_NAME_COLUMNS, out);
        tui_say(tui,
                " has most of what is below, %.3g%% of this row's %s; less than %g%% is not followed (T changes that)",
                100 * view_cost(pane->view, child, metric, part) / whole, view->metrics->at[metric].name,
                100 * tui->hot_share);
    }
}

static void ask_hot_share(struct tui *tui)
{
    double percent = tui_ask_percent(tui, "smallest share of a hot child in percent: ", 100 * tui->hot_share, "");
    if (!isnan(percent))
        tui->hot_share = percent / 100;
}

static void zoom(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    bool out = !tui->command->argument;
    if (out && !pane_zoom_out(pane))
        tui_say(tui, "this is the whole program");
    else if (!out && pane_row(pane) == pane->root)
        tui_say(tui, "the view begins with this row");
    else if (!out)
        pane_zoom_in(pane);
}

const struct family opening_family = {
    "Opening and closing",
    COMMANDS({"Enter, Space", "open or close the row; main thread > ... > main: show the rows between", tui_toggle, 0,
              MOVE},
             {"+, =", "open the row", open_or_close, true, MOVE},
             {"-", "close the row", open_or_close, false, MOVE},
             {"*", "open the row and everything below it", open_or_close_all, true, MOVE},
             {"_", "close the row and everything below it", open_or_close_all, false, MOVE},
             {"H", "follow the hot path: children with at least half of the cost (see T)", follow_hot_path, 0, JUMP},
             {"T", "set the smallest share of a hot child, in percent", ask_hot_share, 0, MOVE},
             {"z", "zoom in: show only the row and the rows below it", zoom, true, MOVE | JUMP},
             {"Z, Backspace", "zoom out", zoom, false, MOVE | JUMP})};

/* ---- mouse ---- */

static bool is_in(struct area area, struct mouse mouse)
{
    return mouse.line >= area.line && mouse.line < area.line + area.height && mouse.column >= area.column &&
           mouse.column < area.column + area.width;
}

/* Clicking the selected row opens or closes it, as clicking a marker does. */
static void click(struct tui *tui)
{
    struct scroller *scroller = &tui_pane(tui)->scroller;
    struct mouse mouse = screen_mouse();
    if (is_in(tui->areas[PART_TITLE], mouse)) {
        tui->next = tui_command_at(mouse.column);
    } else if (is_in(tui->areas[PART_HEADS], mouse)) {
        tui_sort_by_column(tui, tui_sorting_at(tui, mouse.column));
    } else if (is_in(tui->areas[PART_TREE], mouse)) {
        size_t row = scroller->top + (size_t)(mouse.line - tui->areas[PART_TREE].line);
        if (row >= scroller->n)
            return;
        bool toggles = row == scroller->selected || tui_is_marker(tui, row, mouse.column);
        scroller->selected = row;
        tui->source_scroll = (struct source_scroll){0};
        if (toggles)
            tui_toggle(tui);
    }
}

void tui_roll(struct tui *tui)
{
    int lines = tui->command->argument;
    int height = tui->areas[PART_TREE].height;
    if (is_in(tui->areas[PART_SOURCE], screen_mouse()))
        tui->source_scroll.lines += lines;
    else
        scroller_roll(&tui_pane(tui)->scroller, lines, height > 0 ? (size_t)height : 1);
}

const struct family mouse_family = {
    "Mouse (hold Shift for the terminal's own)",
    COMMANDS({"click", "select a row; again, or its marker: open or close; head: sort; view: show", click, 0, 0},
             {"wheel up", "scroll up the tree, or the source under the mouse (Shift-Up)", tui_roll, -NOTCH, 0},
             {"wheel down", "scroll down (Shift-Down)", tui_roll, NOTCH, 0})};
