/* The rows of the tree: costs on the left, names on the right. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>

#define INDENT       2
#define MARKER_WIDTH 2
#define GAP          2 /* columns between costs and names */

static void draw_costs(const struct tui *tui, uint32_t row, const struct columns *columns, int line,
                       int at, bool is_selected)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    struct text text = {0};
    for (size_t c = 0; c < columns->n; c++) {
        const struct column *column = &columns->at[c];
        enum style style =
            is_selected ? STYLE_SELECTED : screen_heat(cell_share(view, row, column));
        text_clear(&text);
        cell_add(&tui->cells, view, row, column, &text);
        screen_put(line, at, PART_WIDTH, style, text_string(&text));
        at += PART_WIDTH;
    }
    vec_free(&text);
}

/* The sign before a row's name: open, closed, or nothing below. */
static const char *marker(const struct tui *tui, const struct pane *pane, uint32_t row)
{
    if (!pane_can_open(pane, row))
        return "  ";
    if (pane_is_open(pane, row) && !pane_folded_chain(pane, row))
        return tui->ascii ? "v " : "▾ ";
    return tui->ascii ? "> " : "▸ ";
}

static size_t indentation(const struct pane *pane, uint32_t row)
{
    return INDENT * pane_level(pane, row);
}

/* Adds "main thread > ... > " for the rows that a folded chain hides, or "thread > ... > ". */
static void add_chain(const struct tui *tui, const struct pane *pane,
                      const struct start_chain *chain, struct text *out)
{
    bool is_entry = view_row(pane->view, chain->first)->kind == KIND_ROOT;
    if (is_entry)
        describe_name(pane->view, chain->first, tui->ascii, out);
    else
        text_add(out, "thread");
    text_add(out, " > ... > ");
}

/* Adds marker, call site and name of a row, the name shortened to fit `columns` if possible. Returns the
 * index of the byte where the name begins. */
static size_t add_name(const struct tui *tui, const struct pane *pane, uint32_t row, size_t columns,
                       struct text *out)
{
    const struct start_chain *chain = pane_folded_chain(pane, row);
    text_add(out, marker(tui, pane, row));
    if (chain)
        add_chain(tui, pane, chain, out);
    else
        describe_call(pane->view, row, tui->ascii, out);
    describe_mark(pane->view, row, out);
    size_t name_at = out->n, used = text_columns(text_string(out));
    describe_bare_name(pane->view, row, tui->ascii, columns > used ? columns - used : 0, out);
    return name_at;
}

/* Shifts the tree left as far as the selected row's name needs. If that row would be left of the screen,
 * shifts back first. */
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

/* Columns before a row; rows left of the shifted tree are drawn at its edge. */
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

/* The part of the area with the names of the rows; the costs are on its left. */
static struct area names_area(const struct tui *tui, struct area area)
{
    int width = (int)tui->shown_columns.n * PART_WIDTH;
    width += width ? GAP : 0;
    return (struct area){area.line, area.column + width, area.height, area.width - width};
}

bool tui_is_marker(const struct tui *tui, size_t index, int column)
{
    const struct pane *pane = tui_drawn_pane(tui);
    int marker = names_area(tui, tui->layout.tree).column + offset(pane, pane->shown.at[index]);
    return column >= marker && column < marker + MARKER_WIDTH;
}

void tui_prepare_tree(struct tui *tui, struct area area)
{
    struct pane *pane = tui_pane(tui);
    size_t height = area.height > 0 ? (size_t)area.height : 0;
    pane_scroll(pane, height);
    size_t n = pane->shown.n - pane->top;
    for (size_t c = 0; c < tui->shown_columns.n; c++)
        view_gather(pane->view, pane->shown.at + pane->top, n < height ? n : height,
                    tui->shown_columns.at[c].metric);
    shift_to_selected(tui, pane, names_area(tui, area).width);
}

void tui_draw_tree(const struct tui *tui, struct area area)
{
    const struct pane *pane = tui_drawn_pane(tui);
    struct area name = names_area(tui, area);
    for (int i = 0; i < area.height && pane->top + (size_t)i < pane->shown.n; i++) {
        size_t index = pane->top + (size_t)i;
        uint32_t row = pane->shown.at[index];
        bool is_selected = index == pane->selected;
        name.line = area.line + i;
        if (is_selected)
            screen_fill(name.line, area.column, area.width, STYLE_SELECTED);
        draw_costs(tui, row, &tui->shown_columns, name.line, area.column, is_selected);
        draw_name(tui, pane, row, name, is_selected);
    }
}
