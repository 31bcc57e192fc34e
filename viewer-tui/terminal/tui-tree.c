/* Drawing the rows of a view: costs on the left, the tree on the right. */
#include "viewer-tui/terminal/tui.h"

#include "lib/number.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/views/columns.h"
#include "viewer-tui/views/describe.h"
#include "viewer-tui/views/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the tree keeps of the width before costs get any. */
#define LEAST_TREE_WIDTH 16

#define INDENT 2

/* The columns that fit into the width; in the end only the one that is sorted by, or none. */
static struct columns fitting_columns(const struct view *view, int width)
{
    int room = (width - GOOD_TREE_WIDTH) / PART_WIDTH;
    struct columns columns = columns_fitting(view, room > 0 ? (size_t)room : 0, true);
    if (width < PART_WIDTH + LEAST_TREE_WIDTH) {
        columns.n = 0;
    } else if (width < (int)columns.n * PART_WIDTH + LEAST_TREE_WIDTH) {
        columns.at[0] = (struct column){view->sorting.metric, view->sorting.part};
        columns.n = 1;
    }
    return columns;
}

/* Takes " (CPUTIME)" out of "work (CPUTIME), s": columns so narrow that this does not fit are all
 * of the effort whose name stands in the title of the screen. */
static void drop_event(struct text *name, size_t unit_at)
{
    char *event = memrchr(name->at, '(', unit_at);
    char *end = event ? strchr(event, ')') : NULL;
    if (!end || event == name->at)
        return;
    size_t start = (size_t)(event - name->at) - 1, rest = (size_t)(end - name->at) + 1;
    memmove(name->at + start, name->at + rest, name->n - rest + 1);
    name->n -= rest - start;
}

/* Makes "work diff" of "work difference, s". */
static void shorten_difference(struct text *name)
{
    static const char difference[] = " difference";
    const char *found = strstr(name->at, difference);
    if (!found)
        return;
    name->n = (size_t)(found - name->at) + strlen(" diff");
    name->at[name->n] = '\0';
}

/* Makes "spawn, s" of "overhead: spawn, s". */
static void drop_overhead(struct text *name, size_t *unit_at)
{
    const char *colon = strstr(name->at, ": ");
    size_t length = colon ? (size_t)(colon - name->at) + 2 : 0;
    memmove(name->at, name->at + length, name->n - length + 1);
    name->n -= length;
    *unit_at -= length;
}

/* "work, s" over the columns of a metric. */
static void draw_metric_name(const struct tui *tui, const struct view *view, size_t metric,
                             int line, int column, int width)
{
    struct text name = {0};
    struct number_scale scale = columns_scale(view, metric);
    columns_title(&view->metrics->at[metric], "", tui->ascii, &name);
    size_t unit_at = name.n;
    text_clear(&name);
    columns_title(&view->metrics->at[metric], scale.unit, tui->ascii, &name);
    bool is_too_wide = (int)text_columns(text_string(&name)) >= width;
    if (is_too_wide && view->metrics->at[metric].kind)
        drop_overhead(&name, &unit_at);
    if ((int)text_columns(text_string(&name)) >= width &&
        (metric_is_of_effort(&view->metrics->at[metric]) ||
         metric_is_compared(&view->metrics->at[metric])))
        drop_event(&name, unit_at);
    if ((int)text_columns(text_string(&name)) >= width &&
        metric_is_compared(&view->metrics->at[metric]))
        shorten_difference(&name);
    text_cut(&name, (size_t)width - 1);
    int used = (int)text_columns(text_string(&name));
    screen_put(line, column + width - used, used, STYLE_PLAIN, text_string(&name));
    vec_free(&name);
}

static const char *sort_mark(const struct tui *tui, const struct sorting *sorting)
{
    if (tui->ascii)
        return sorting->is_reversed ? "^" : "v";
    return sorting->is_reversed ? "▲" : "▼";
}

static void draw_part_name(const struct tui *tui, const struct view *view,
                           const struct column *column, int line, int at)
{
    const struct sorting *sorting = &view->sorting;
    bool is_sorted =
        !sorting->by_name && sorting->metric == column->metric && sorting->part == column->part;
    struct text name = {0};
    if (is_sorted)
        text_printf(&name, "%s ", sort_mark(tui, sorting));
    text_add(&name, column->part == INCLUSIVE ? "inclusive" : "exclusive");
    int used = (int)text_columns(text_string(&name));
    screen_put(line, at + PART_WIDTH - used, used, STYLE_HEAD, text_string(&name));
    vec_free(&name);
}

void tui_draw_heads(struct tui *tui, struct area area)
{
    const struct view *view = tui_pane(tui)->view;
    struct columns columns = fitting_columns(view, area.width);
    screen_fill(area.line + 1, area.column, area.width, STYLE_HEAD);
    int at = area.column;
    for (size_t i = 0; i < columns.n; i++, at += PART_WIDTH) {
        size_t metric = columns.at[i].metric;
        if (i == 0 || columns.at[i - 1].metric != metric)
            draw_metric_name(tui, view, metric, area.line, at,
                             (int)columns_of_metric(&columns, i) * PART_WIDTH);
        draw_part_name(tui, view, &columns.at[i], area.line + 1, at);
    }
    const char *mark = view->sorting.by_name ? sort_mark(tui, &view->sorting) : "";
    struct text scope = {0};
    text_printf(&scope, "  scope %s", mark);
    screen_put(area.line + 1, at, area.width - at, STYLE_HEAD, text_string(&scope));
    vec_free(&scope);
    free(columns.at);
}

static void draw_cost(const struct view *view, uint32_t row, const struct column *column, int line,
                      int at, bool is_selected)
{
    const struct metric *metric = &view->metrics->at[column->metric];
    char number[NUMBER_SIZE], percent[NUMBER_SIZE] = "";
    double value = view_cost(view, row, column->metric, column->part);
    double whole = view_whole(view, column->metric);
    struct number_scale scale = columns_scale(view, column->metric);
    columns_value(metric, value, &scale, number);
    if (metric_is_measured(metric) && isfinite(value) && value != 0)
        number_percent(value, whole, percent);
    struct text text = {0};
    text_printf(&text, "%*s%*s%s", VALUE_WIDTH, number, PERCENT_WIDTH - 1, percent,
                *percent ? "%" : " ");
    double share = whole != 0 ? value / whole : 0;
    enum style style = is_selected ? STYLE_SELECTED : screen_heat(share);
    screen_put(line, at, PART_WIDTH, style, text_string(&text));
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

/* Adds the tree's part of a row: marker, call site and name. */
static void add_name(const struct tui *tui, const struct pane *pane, uint32_t row, struct text *out)
{
    text_add(out, marker(tui, pane, row));
    describe_call(pane->view, row, tui->ascii, out);
    describe_name(pane->view, row, tui->ascii, out);
}

/* Bytes that the row's own name takes at the end of that. */
static size_t name_length(const struct tui *tui, const struct pane *pane, uint32_t row)
{
    struct text label = {0}, name = {0};
    label_name(pane->view, row, &label);
    text_add_clean(&name, text_string(&label), tui->ascii);
    size_t length = name.n;
    vec_free(&label);
    vec_free(&name);
    return length;
}

/* Shifts the tree so that the selected row's name can be read. */
static void shift_to_selected(const struct tui *tui, struct pane *pane, int width)
{
    struct text name = {0};
    uint32_t row = pane_row(pane);
    add_name(tui, pane, row, &name);
    size_t start = indentation(pane, row), room = (size_t)(width > 1 ? width : 1);
    size_t length = text_columns(text_string(&name));
    size_t wanted = length < room ? length : room;
    if (pane->shift > start)
        pane->shift = start;
    if (start + wanted > pane->shift + room)
        pane->shift = start + wanted - room;
    vec_free(&name);
}

/* Draws text of which the first `skip` columns are cut off. */
static int put_shifted(int line, int column, int width, enum style style, const char *text,
                       size_t skip)
{
    return screen_put(line, column, width, style, text_skip(text, skip));
}

static void draw_name(const struct tui *tui, const struct pane *pane, uint32_t row,
                      struct area area, bool is_selected)
{
    struct text name = {0}, location = {0};
    size_t start = indentation(pane, row);
    size_t skip = pane->shift > start ? pane->shift - start : 0;
    int at = start > pane->shift ? (int)(start - pane->shift) : 0;
    add_name(tui, pane, row, &name);
    size_t name_at = name.n - name_length(tui, pane, row);
    describe_location(pane->view, row, tui->ascii, &location);
    struct area behind = {area.line, area.column + at, 1, area.width - at};
    int used = put_shifted(area.line, behind.column, behind.width,
                           is_selected ? STYLE_SELECTED : STYLE_PLAIN, text_string(&name), skip);
    tui_draw_match(tui, behind, text_string(&name), name_at, skip);
    behind.column += used + 2;
    behind.width -= used + 2;
    if (location.n && behind.width > 0) {
        screen_put(area.line, behind.column, behind.width, is_selected ? STYLE_SELECTED : STYLE_DIM,
                   text_string(&location));
        tui_draw_match(tui, behind, text_string(&location), 0, 0);
    }
    vec_free(&name);
    vec_free(&location);
}

void tui_draw_tree(struct tui *tui, struct area area)
{
    struct pane *pane = tui_pane(tui);
    struct columns columns = fitting_columns(pane->view, area.width);
    int costs_width = (int)columns.n * PART_WIDTH;
    int gap = columns.n ? 2 : 0;
    struct area tree = {.column = area.column + costs_width + gap,
                        .height = 1,
                        .width = area.width - costs_width - gap};
    pane_scroll(pane, (size_t)area.height);
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
        for (size_t c = 0; c < columns.n; c++)
            draw_cost(pane->view, row, &columns.at[c], tree.line, area.column + (int)c * PART_WIDTH,
                      is_selected);
        draw_name(tui, pane, row, tree, is_selected);
    }
    free(columns.at);
}
