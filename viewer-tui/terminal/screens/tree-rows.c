/* Drawing the rows of a view: costs on the left, the tree on the right. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/describe.h"

#include <stdlib.h>

#define INDENT       2
#define MARKER_WIDTH 2

static void draw_costs(const struct tui *tui, uint32_t row, const struct columns *columns, int line,
                       int at, bool is_selected)
{
    const struct view *view = tui->panes[tui->projection][tui->id].view;
    struct text text = {0};
    for (size_t c = 0; c < columns->n; c++) {
        const struct column *column = &columns->at[c];
        int width = cell_width(&tui->cells, column);
        enum style style =
            is_selected ? STYLE_SELECTED : screen_heat(cell_share(view, row, column));
        text_clear(&text);
        cell_add(&tui->cells, view, row, column, &text);
        screen_put(line, at, width, style, text_string(&text));
        at += width;
    }
    vec_free(&text);
}

/* What stands before a row's name: open, closed, or nothing below. */
static const char *marker(const struct tui *tui, const struct pane *pane, uint32_t row)
{
    if (!pane_can_open(pane, row))
        return "  ";
    if (pane_is_open(pane, row))
        return tui->ascii ? "v " : "▾ ";
    return tui->ascii ? "> " : "▸ ";
}

static size_t indentation(const struct pane *pane, uint32_t row)
{
    return INDENT * pane_level(pane, row);
}

/* Adds the tree's part of a row, marker, call site and name, in so many columns where that can be
 * done; returns where the name itself begins. */
static size_t add_name(const struct tui *tui, const struct pane *pane, uint32_t row, size_t columns,
                       struct text *out)
{
    text_add(out, marker(tui, pane, row));
    describe_call(pane->view, row, tui->ascii, out);
    describe_mark(pane->view, row, out);
    size_t name_at = out->n, used = text_columns(text_string(out));
    describe_bare_name(pane->view, row, tui->ascii, columns > used ? columns - used : 0, out);
    return name_at;
}

/* Shifts the tree as far as the selected row's name needs it; once that row itself would lie left
 * of the screen, as far back as can be. */
static void shift_to_selected(const struct tui *tui, struct pane *pane, int width)
{
    struct text name = {0};
    uint32_t row = pane_row(pane);
    size_t start = indentation(pane, row), room = (size_t)(width > 1 ? width : 1);
    add_name(tui, pane, row, room > start ? room - start : 0, &name);
    size_t length = text_columns(text_string(&name));
    size_t wanted = length < room ? length : room;
    if (pane->width != width || pane->shift >= start)
        pane->shift = 0;
    pane->width = width;
    if (start + wanted > pane->shift + room)
        pane->shift = start + wanted - room;
    vec_free(&name);
}

/* Columns before a row; what lies left of the shifted tree stands at its edge. */
static int offset(const struct pane *pane, uint32_t row)
{
    size_t start = indentation(pane, row);
    return start > pane->shift ? (int)(start - pane->shift) : 0;
}

static void draw_name(const struct tui *tui, const struct pane *pane, uint32_t row,
                      struct area area, bool is_selected)
{
    struct text name = {0}, location = {0};
    int at = offset(pane, row);
    struct area behind = {area.line, area.column + at, 1, area.width - at};
    if (behind.width <= 0)
        return;
    size_t name_at = add_name(tui, pane, row, (size_t)behind.width, &name);
    describe_location(pane->view, row, tui->ascii, &location);
    int used = screen_put(area.line, behind.column, behind.width,
                          is_selected ? STYLE_SELECTED : STYLE_PLAIN, text_string(&name));
    tui_draw_match(tui, behind, text_string(&name), name_at);
    behind.column += used + 2;
    behind.width -= used + 2;
    if (location.n && behind.width > 0) {
        screen_put(area.line, behind.column, behind.width, is_selected ? STYLE_SELECTED : STYLE_DIM,
                   text_string(&location));
        tui_draw_match(tui, behind, text_string(&location), 0);
    }
    vec_free(&name);
    vec_free(&location);
}

static void add_spots(struct tui *tui, size_t index, struct area line, struct area tree)
{
    const struct pane *pane = tui_pane(tui);
    struct area marker = {tree.line, tree.column, 1, MARKER_WIDTH};
    marker.column += offset(pane, pane->shown.at[index]);
    vec_push(&tui->spots, (struct spot){.kind = SPOT_ROW, .area = line, .number = index});
    vec_push(&tui->spots, (struct spot){.kind = SPOT_MARKER, .area = marker, .number = index});
}

/* Finds out in one pass what the columns of the rows on the screen need. */
static void gather(struct pane *pane, const struct columns *columns, size_t height)
{
    size_t n = pane->shown.n - pane->top;
    for (size_t c = 0; c < columns->n; c++)
        view_gather(pane->view, pane->shown.at + pane->top, n < height ? n : height,
                    columns->at[c].metric);
}

void tui_draw_tree(struct tui *tui, struct area area)
{
    struct pane *pane = tui_pane(tui);
    struct columns columns = tui_columns(tui, area.width);
    int costs_width = 0;
    for (size_t c = 0; c < columns.n; c++)
        costs_width += cell_width(&tui->cells, &columns.at[c]);
    int gap = columns.n ? 2 : 0;
    struct area tree = {.column = area.column + costs_width + gap,
                        .height = 1,
                        .width = area.width - costs_width - gap};
    pane_scroll(pane, (size_t)area.height);
    gather(pane, &columns, (size_t)area.height);
    shift_to_selected(tui, pane, tree.width);
    for (int i = 0; i < area.height; i++) {
        size_t index = pane->top + (size_t)i;
        if (index >= pane->shown.n)
            break;
        uint32_t row = pane->shown.at[index];
        bool is_selected = index == pane->selected;
        tree.line = area.line + i;
        if (is_selected)
            screen_fill(tree.line, area.column, area.width, STYLE_SELECTED);
        draw_costs(tui, row, &columns, tree.line, area.column, is_selected);
        draw_name(tui, pane, row, tree, is_selected);
        add_spots(tui, index, (struct area){tree.line, area.column, 1, area.width}, tree);
    }
    free(columns.at);
}
