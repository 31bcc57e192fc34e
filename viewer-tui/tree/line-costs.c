#include "viewer-tui/tree/line-costs.h"

#include "viewer-tui/tree/walk.h"

#include <math.h>
#include <stdlib.h>

/* The arguments of line_costs_find. */
struct line_search {
    line_costs *costs;
    uint32_t file;
    uint32_t scope;
    int side; /* of a comparison, whose file it is */
};

static void add(struct line_search *search, uint32_t file, struct line_cost line)
{
    if (file == search->file && line.line)
        vec_push(search->costs, line);
}

/* The row's cost in the metric of the sorting. */
static double cost_of(const struct view *view, uint32_t row, enum cost_part part)
{
    return view_cost(view, row, view->sorting.metric, part);
}

/* In the flat view a statement's cost includes its calls; elsewhere these are rows. */
static void add_statement(struct line_search *search, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    bool calls = false;
    for (size_t m = 0; m < view->metrics->n_stored; m++)
        calls |= view_cost(view, number, m, INCLUSIVE) > view_cost(view, number, m, EXCLUSIVE);
    double cost = cost_of(view, number, view->sorting.part);
    add(search, row->place, (struct line_cost){.line = row->line, .cost = cost, .calls = calls});
}

static void add_call(struct line_search *search, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    bool is_caller = view->class->shows_callers;
    double cost = 0;
    if (is_caller || view->sorting.part == INCLUSIVE)
        cost = cost_of(view, number, view->sorting.part);
    add(search, row->call_file,
        (struct line_cost){.line = row->call_line, .cost = cost, .calls = true});
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    (void)level;
    struct line_search *search = context;
    const struct row *row = view_row(view, number);
    uint32_t origin_row = number;
    if (number == search->scope || view_origin(view, &origin_row)->side != search->side)
        return;
    if (row->kind == KIND_STATEMENT)
        add_statement(search, view, number);
    else if (row->kind == KIND_LOOP)
        add(search, row->place, (struct line_cost){.line = row->line, .begins_loop = true});
    else
        add_call(search, view, number);
}

/* Skips callees, whose lines are others. In a file, procedures are visited. */
static bool skips_below(void *context, const struct view *view, uint32_t row)
{
    const struct line_search *search = context;
    return row != search->scope && view_row(view, row)->kind == KIND_PROCEDURE &&
           view_row(view, search->scope)->kind == KIND_PROCEDURE;
}

/* The row whose lines are wanted; 0 if there is none. */
static uint32_t scope_around(const struct view *view, uint32_t row)
{
    if (view->class->shows_callers)
        return view_row(view, row)->depth > 1 ? view_row(view, row)->parent : row;
    while (row && view_row(view, row)->kind != KIND_PROCEDURE &&
           view_row(view, row)->kind != KIND_FILE)
        row = view_row(view, row)->parent;
    return row;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line_cost *left = a, *right = b;
    return (left->line > right->line) - (left->line < right->line);
}

/* Joins the elements of each line. */
static void merge(line_costs *costs)
{
    size_t n = 0;
    vec_sort(costs, compare_lines);
    for (size_t i = 0; i < costs->n; i++) {
        const struct line_cost *from = &costs->at[i];
        if (n == 0 || costs->at[n - 1].line != from->line) {
            costs->at[n++] = *from;
            continue;
        }
        struct line_cost *into = &costs->at[n - 1];
        into->cost += from->cost;
        into->calls |= from->calls;
        into->begins_loop |= from->begins_loop;
    }
    costs->n = n;
}

void line_costs_find(line_costs *costs, struct view *view, uint32_t row, uint32_t file)
{
    uint32_t origin_row = row;
    struct line_search search = {.costs = costs,
                                 .file = file,
                                 .scope = scope_around(view, row),
                                 .side = view_origin(view, &origin_row)->side};
    if (search.scope == 0 || file == NOTHING)
        return;
    struct limits limits = {.depth = view->class->shows_callers
                                         ? view_row(view, search.scope)->depth + 1
                                         : NO_DEPTH_LIMIT,
                            .share = -INFINITY,
                            .by = view->sorting};
    struct visitor visitor = {.enter = enter, .skips_below = skips_below, .context = &search};
    walk_view(view, search.scope, &limits, &visitor);
    merge(costs);
}

const struct line_cost *line_costs_of(const line_costs *costs, uint32_t line)
{
    struct line_cost wanted = {.line = line};
    if (!costs->n)
        return NULL;
    return bsearch(&wanted, costs->at, costs->n, sizeof wanted, compare_lines);
}
