/* The columns of costs and their heads. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/number.h"

#include <string.h>

/* Columns of the screen that the tree keeps before costs get any. */
#define LEAST_TREE_WIDTH 16

/* Without a choice of the user, those that fit: several, only the one that rows are sorted by, or none. Of chosen ones
 * those from the first one on the screen on; at least one if that leaves a tree. */
struct columns tui_columns(const struct tui *tui, int width)
{
    const struct view *view = tui_pane(tui)->view;
    const struct column_choice *choice = &tui->columns[tui->projection];
    int room = (width - GOOD_TREE_WIDTH) / PART_WIDTH;
    size_t fit = room > 0 ? (size_t)room : 0;
    if (!choice->is_made) {
        struct columns columns = columns_fitting(view, fit);
        if (width < PART_WIDTH + LEAST_TREE_WIDTH) {
            columns.n = 0;
        } else if (width < (int)columns.n * PART_WIDTH + LEAST_TREE_WIDTH) {
            columns.at[0] = (struct column){.metric = view->sorting.metric, .part = view->sorting.part};
            columns.n = 1;
        }
        return columns;
    }
    struct columns columns = column_choice_shown(choice, view->metrics);
    size_t first = choice->first < columns.n ? choice->first : columns.n ? columns.n - 1 : 0;
    if (fit == 0 && width >= PART_WIDTH + LEAST_TREE_WIDTH)
        fit = 1;
    columns.n = columns.n - first < fit ? columns.n - first : fit;
    for (size_t i = 0; i < columns.n; i++)
        columns.at[i] = columns.at[first + i];
    return columns;
}

/* Adds "work, s", shortened as far as necessary: "overhead: spawn, s" to "spawn, s"; "work (CPUTIME), s" to "work, s",
 * since columns that are too narrow for it all belong to one event, which the title of the screen names; "work
 * difference, s" to "work diff". */
static void add_metric_name(const struct tui *tui, const struct view *view, size_t number, int width, struct text *name)
{
    const struct metric *metric = &view->metrics->at[number];
    struct number_scale scale = columns_scale(view, number);
    bool is_shared = metric_is_of_effort(metric) || metric_is_compared(metric);
    struct title_cuts cuts[] = {{0}, {true, false, false}, {true, is_shared, false}, {true, is_shared, true}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        text_clear(name);
        columns_title(metric, scale.unit, cuts[i], tui->ascii, name);
        if ((int)text_columns(text_string(name)) < width)
            return;
    }
    text_cut(name, (size_t)width - 1);
}

/* Draws metrics above their columns: names in the first line, parts in the second; and "scope" above the names of the
 * rows. A mark is at what rows are sorted by. */
void tui_draw_heads(const struct tui *tui, struct area area)
{
    const struct view *view = tui_pane(tui)->view;
    const struct columns *columns = &tui->shown_columns;
    const struct sorting *sorting = &view->sorting;
    const char *mark = tui->ascii ? (sorting->is_reversed ? "^" : "v") : (sorting->is_reversed ? "▲" : "▼");
    autofree struct text text = {0};
    int at = area.column;
    screen_fill(area.line + 1, area.column, area.width, STYLE_HEAD);
    for (size_t i = 0; i < columns->n; i++, at += PART_WIDTH) {
        size_t metric = columns->at[i].metric;
        bool is_sorted = !sorting->by_name && sorting->metric == metric && sorting->part == columns->at[i].part;
        int width = (int)columns_of_metric(columns, i) * PART_WIDTH, used;
        if (i == 0 || columns->at[i - 1].metric != metric) {
            text_clear(&text);
            add_metric_name(tui, view, metric, width, &text);
            used = (int)text_columns(text_string(&text));
            screen_put(area.line, at + width - used, used, STYLE_PLAIN, text_string(&text));
        }
        text_clear(&text);
        text_printf(&text, "%s%s%s", is_sorted ? mark : "", is_sorted ? " " : "",
                    columns->at[i].part == INCLUSIVE ? "inclusive" : "exclusive");
        used = (int)text_columns(text_string(&text));
        screen_put(area.line + 1, at + PART_WIDTH - used, used, STYLE_HEAD, text_string(&text));
    }
    text_clear(&text);
    text_printf(&text, "  scope %s", sorting->by_name ? mark : "");
    screen_put(area.line + 1, at, area.column + area.width - at, STYLE_HEAD, text_string(&text));
}

struct sorting tui_sorting_at(const struct tui *tui, int column)
{
    const struct columns *columns = &tui->shown_columns;
    struct sorting sorting = tui_pane(tui)->view->sorting;
    size_t i = column > 0 ? (size_t)column / PART_WIDTH : 0;
    if (i < columns->n)
        return (struct sorting){.metric = columns->at[i].metric, .part = columns->at[i].part};
    sorting.by_name = true;
    return sorting;
}
