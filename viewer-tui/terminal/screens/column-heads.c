/* The columns of costs and their heads. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/number.h"
#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the screen that the tree keeps before costs get any. */
#define LEAST_TREE_WIDTH 16

/* The columns that fit: several, only the one that rows are sorted by, or none. */
static struct columns fitting(const struct view *view, int width)
{
    int room = (width - GOOD_TREE_WIDTH) / PART_WIDTH;
    struct columns columns = columns_fitting(view, room > 0 ? (size_t)room : 0);
    if (width < PART_WIDTH + LEAST_TREE_WIDTH) {
        columns.n = 0;
    } else if (width < (int)columns.n * PART_WIDTH + LEAST_TREE_WIDTH) {
        columns.at[0] = (struct column){.metric = view->sorting.metric, .part = view->sorting.part};
        columns.n = 1;
    }
    return columns;
}

/* The chosen columns that fit, from the first one on the screen; at least one if that leaves a tree. */
static struct columns chosen(const struct tui *tui, const struct view *view, int width)
{
    const struct column_choice *choice = &tui->columns[tui->projection];
    struct columns columns = column_choice_shown(choice, view->metrics);
    size_t first = choice->first < columns.n ? choice->first : columns.n ? columns.n - 1 : 0;
    int used = 0;
    size_t n = 0;
    for (; first + n < columns.n; n++) {
        columns.at[n] = columns.at[first + n];
        used += PART_WIDTH;
        if (used > width - (n == 0 ? LEAST_TREE_WIDTH : GOOD_TREE_WIDTH))
            break;
    }
    columns.n = n;
    return columns;
}

struct columns tui_columns(const struct tui *tui, int width)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    if (tui->columns[tui->projection].is_made)
        return chosen(tui, view, width);
    return fitting(view, width);
}

/* Removes " (CPUTIME)" from "work (CPUTIME), s". Columns that are too narrow for it all belong to one
 * event, which the title of the screen names. */
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

/* Shortens "work difference, s" to "work diff". */
static void shorten_difference(struct text *name)
{
    static const char difference[] = " difference";
    const char *found = strstr(name->at, difference);
    if (!found)
        return;
    name->n = (size_t)(found - name->at) + strlen(" diff");
    name->at[name->n] = '\0';
}

/* Shortens "overhead: spawn, s" to "spawn, s". */
static void drop_overhead(struct text *name, size_t *unit_at)
{
    const char *colon = strstr(name->at, ": ");
    size_t length = colon ? (size_t)(colon - name->at) + 2 : 0;
    memmove(name->at, name->at + length, name->n - length + 1);
    name->n -= length;
    *unit_at -= length;
}

/* Draws "work, s" above the columns of a metric. */
static void draw_metric_name(const struct tui *tui, const struct view *view,
                             const struct column *of, int line, int column, int width)
{
    size_t metric = of->metric;
    struct text name = {0};
    struct number_scale scale = columns_scale(view, metric);
    columns_title(&view->metrics->at[metric], "", tui->ascii, &name);
    size_t unit_at = name.n;
    text_clear(&name);
    columns_title(&view->metrics->at[metric], scale.unit, tui->ascii, &name);
    bool is_too_wide = (int)text_columns(text_string(&name)) >= width;
    if (is_too_wide && view->metrics->at[metric].kind.name)
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
    screen_put(line, at + PART_WIDTH - used, used, STYLE_HEAD,
               text_string(&name));
    vec_free(&name);
}

/* Draws "scope" above the names of the rows. */
static void draw_scope_head(const struct tui *tui, struct area area)
{
    const struct sorting *sorting = &tui_drawn_pane(tui)->view->sorting;
    struct text scope = {0};
    text_printf(&scope, "  scope %s", sorting->by_name ? sort_mark(tui, sorting) : "");
    screen_put(area.line, area.column, area.width, STYLE_HEAD, text_string(&scope));
    vec_free(&scope);
}

void tui_draw_heads(const struct tui *tui, struct area area)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    const struct columns *columns = &tui->shown_columns;
    int at = area.column;
    screen_fill(area.line + 1, area.column, area.width, STYLE_HEAD);
    for (size_t i = 0; i < columns->n; i++) {
        if (i == 0 || columns->at[i - 1].metric != columns->at[i].metric)
            draw_metric_name(tui, view, &columns->at[i], area.line, at,
                             (int)columns_of_metric(columns, i) * PART_WIDTH);
        draw_part_name(tui, view, &columns->at[i], area.line + 1, at);
        at += PART_WIDTH;
    }
    draw_scope_head(tui, (struct area){area.line + 1, at, 1, area.column + area.width - at});
}

struct sorting tui_sorting_at(const struct tui *tui, int column)
{
    const struct columns *columns = &tui->shown_columns;
    struct sorting sorting = tui_drawn_pane(tui)->view->sorting;
    int at = 0;
    for (size_t i = 0; i < columns->n; i++) {
        at += PART_WIDTH;
        if (column < at)
            return (struct sorting){.metric = columns->at[i].metric, .part = columns->at[i].part};
    }
    sorting.by_name = true;
    return sorting;
}
