/* The rows of the tree: costs on the left, names on the right. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/tree/labels.h"

#define INDENT       2
#define MARKER_WIDTH 2
#define GAP          2 /* columns between costs and names, and between names and places */

/* The sign before a row's name: open, closed, or nothing below. */
static const char *marker(const struct tui *tui, const struct pane *pane, uint32_t row)
{
    if (!pane_can_open(pane, row))
        return "  ";
    if (pane_is_open(pane, row) && !pane_folded_chain(pane, row))
        return tui->ascii ? "v " : "▾ ";
    return tui->ascii ? "> " : "▸ ";
}

/* Makes the line of a row, with "main thread > ... > " for the rows that a folded chain hides, or "thread > ... > ".
 * `columns` NULL: without costs. */
static void make_line(const struct tui *tui, const struct pane *pane, uint32_t row, const struct columns *columns,
                      size_t room, struct row_line *line)
{
    static const struct columns none;
    const struct start_chain *chain = pane_folded_chain(pane, row);
    autofree struct text hidden = {0};
    if (chain && view_row(pane->view, chain->first)->kind == KIND_ROOT)
        describe_name(pane->view, chain->first, tui->ascii, &hidden);
    else if (chain)
        text_add(&hidden, "thread");
    text_add(&hidden, " > ... > ");
    row_line_make(line, &tui->cells, pane->view, row, columns ? columns : &none, 0,
                  &(struct row_label){marker(tui, pane, row), chain ? text_string(&hidden) : NULL, room});
}

/* Shifts the tree left as far as the selected row's name needs. If that row would be left of the screen,
 * shifts back first. */
static void shift_to_selected(const struct tui *tui, struct pane *pane, int width)
{
    struct row_line line = {0};
    uint32_t row = pane_row(pane);
    size_t start = INDENT * pane_level(pane, row), room = (size_t)(width > 1 ? width : 1);
    make_line(tui, pane, row, NULL, room > start ? room - start : 0, &line);
    text_truncate(&line.text, line.parts.at[0].n);
    size_t length = text_columns(text_string(&line.text));
    size_t wanted = length < room ? length : room;
    if (pane->width != width || pane->shift >= start)
        pane->shift = 0;
    pane->width = width;
    if (start + wanted > pane->shift + room)
        pane->shift = start + wanted - room;
    vec_free(&line.text);
    vec_free(&line.parts);
}

/* Columns before a row; rows left of the shifted tree are drawn at its edge. */
static int offset(const struct pane *pane, uint32_t row)
{
    size_t start = INDENT * pane_level(pane, row);
    return start > pane->shift ? (int)(start - pane->shift) : 0;
}

/* Highlights a match of the last search in text drawn in `area`; bytes before `from` are skipped. */
static void draw_match(const struct tui *tui, struct area area, const char *text, size_t from)
{
    size_t start, end;
    bool is_about_text = tui->wanted && tui->wanted->field <= PATTERN_NAME;
    if (tui->shows_matches && is_about_text && pattern_find(tui->wanted, text + from, &start, &end))
        screen_mark(area.line, area.column, area.width, STYLE_MATCH, text, from + start, from + end);
}

/* Draws costs from the left edge of the area on, name and place from `names` on. */
static void draw_line(const struct tui *tui, const struct pane *pane, uint32_t row, int left, struct area names,
                      bool is_selected)
{
    static const enum style styles[LINE_PARTS] = {[LINE_NAME] = STYLE_PLAIN, [LINE_PLACE] = STYLE_DIM};
    struct row_line line = {0};
    autofree struct text piece = {0};
    int at = offset(pane, row);
    names.column += at;
    names.width -= at;
    make_line(tui, pane, row, &tui->shown_columns, names.width > 0 ? (size_t)names.width : 0, &line);
    for (size_t i = 0; i < line.parts.n; i++) {
        const struct line_part *part = &line.parts.at[i];
        enum style style = is_selected              ? STYLE_SELECTED
                           : part->kind == LINE_COST ? screen_heat(part->share)
                                                     : styles[part->kind];
        text_clear(&piece);
        text_add_bytes(&piece, line.text.at + part->at, part->n);
        if (part->kind == LINE_COST) {
            screen_put(names.line, left, PART_WIDTH, style, text_string(&piece));
            left += PART_WIDTH;
        } else if (names.width > 0) {
            int used = screen_put(names.line, names.column, names.width, style, text_string(&piece));
            draw_match(tui, names, text_string(&piece), part->kind == LINE_NAME ? line.name_at - part->at : 0);
            names.column += used + GAP;
            names.width -= used + GAP;
        }
    }
    vec_free(&line.text);
    vec_free(&line.parts);
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
    const struct pane *pane = tui_pane(tui);
    int marker = names_area(tui, tui->areas[PART_TREE]).column + offset(pane, pane->shown.at[index]);
    return column >= marker && column < marker + MARKER_WIDTH;
}

void tui_prepare_tree(struct tui *tui, struct area area)
{
    struct pane *pane = tui_pane(tui);
    pane_scroll(pane, area.height > 0 ? (size_t)area.height : 0);
    shift_to_selected(tui, pane, names_area(tui, area).width);
}

void tui_draw_tree(const struct tui *tui, struct area area)
{
    const struct pane *pane = tui_pane(tui);
    struct area name = names_area(tui, area);
    for (int i = 0; i < area.height && pane->scroller.top + (size_t)i < pane->shown.n; i++) {
        size_t index = pane->scroller.top + (size_t)i;
        uint32_t row = pane->shown.at[index];
        bool is_selected = index == pane->scroller.selected;
        name.line = area.line + i;
        if (is_selected)
            screen_fill(name.line, area.column, area.width, STYLE_SELECTED);
        draw_line(tui, pane, row, area.column, name, is_selected);
    }
}
