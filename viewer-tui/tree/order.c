#include "viewer-tui/tree/view.h"

#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A row to be sorted: by one part of the cost, then by the other. */
struct sorted_row {
    uint32_t number;
    double first, second;
};

/* Descending order, undefined costs last. */
static int compare_costs(double a, double b)
{
    bool a_is_undefined = isnan(a), b_is_undefined = isnan(b);
    if (a_is_undefined || b_is_undefined)
        return a_is_undefined - b_is_undefined;
    return (a < b) - (a > b);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct view *view = context;
    const struct sorted_row *a = left, *b = right;
    bool is_reversed = view->sorting.is_reversed;
    int result = 0;
    if (!view->sorting.by_name) {
        result = compare_costs(a->first, b->first);
        if (isnan(a->first) || isnan(b->first))
            is_reversed = false;
        if (result == 0)
            result = compare_costs(a->second, b->second);
    }
    if (result == 0)
        result = label_compare(view, a->number, b->number);
    if (result == 0)
        result = (a->number > b->number) - (a->number < b->number);
    return is_reversed ? -result : result;
}

void view_sort_rows(struct view *view, uint32_t *rows, size_t n)
{
    autofree struct sorted_row *sorted = mem_alloc((n + 1) * sizeof *sorted);
    enum cost_part part = view->sorting.part, other = part == INCLUSIVE ? EXCLUSIVE : INCLUSIVE;
    size_t metric = view->sorting.metric;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct sorted_row){rows[i], NAN, NAN};
        if (view->sorting.by_name)
            continue;
        sorted[i].first = view_cost(view, rows[i], metric, part);
        sorted[i].second = view_cost(view, rows[i], metric, other);
    }
    qsort_r(sorted, n, sizeof *sorted, compare_rows, view);
    for (size_t i = 0; i < n; i++)
        rows[i] = sorted[i].number;
}

uint32_t view_child(struct view *view, uint32_t row, uint32_t i)
{
    struct row *parent = &view->rows.at[row];
    assert(parent->is_expanded && i < parent->n_children);
    if (parent->sorted_by != view->sorting_number)
        view_sort_rows(view, view->order.at + parent->first_child, parent->n_children);
    parent->sorted_by = view->sorting_number;
    return view->order.at[parent->first_child + i];
}
