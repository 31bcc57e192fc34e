#include "viewer-tui/terminal/pane.h"

#include <stdlib.h>

/* A child's share of its parent's cost that makes it part of a hot path. */
#define HOT_SHARE 0.5

bool pane_is_open(const struct pane *pane, uint32_t row)
{
    return row < pane->is_open.n && pane->is_open.at[row];
}

bool pane_can_open(const struct pane *pane, uint32_t row)
{
    const struct row *at = view_row(pane->view, row);
    return !at->is_leaf && (!at->is_expanded || at->n_children > 0);
}

static void set_open(struct pane *pane, uint32_t row, bool is_open)
{
    while (pane->is_open.n <= row)
        vec_push(&pane->is_open, false);
    if (is_open)
        view_expand(pane->view, row);
    pane->is_open.at[row] = is_open && view_row(pane->view, row)->is_expanded;
}

/* The row after `row` on the screen; `root` when there is none. */
static uint32_t next_shown(struct pane *pane, uint32_t row)
{
    struct view *view = pane->view;
    if (pane_is_open(pane, row) && view_row(view, row)->n_children > 0)
        return view_child(view, row, 0);
    for (; row != pane->root; row = view_row(view, row)->parent) {
        uint32_t parent = view_row(view, row)->parent;
        uint32_t rank = view_rank(view, row) + 1;
        if (rank < view_row(view, parent)->n_children)
            return view_child(view, parent, rank);
    }
    return pane->root;
}

/* Lists the shown rows anew; `selected` stays selected, or what is nearest above it. */
static void list_rows(struct pane *pane, uint32_t selected)
{
    pane->shown.n = 0;
    pane->selected = 0;
    uint32_t row = pane->root;
    do {
        if (row == selected)
            pane->selected = pane->shown.n;
        vec_push(&pane->shown, row);
        row = next_shown(pane, row);
    } while (row != pane->root);
}

void pane_open(struct pane *pane, struct view *view)
{
    *pane = (struct pane){.view = view};
    view_start_walk(view);
    uint32_t row = 0;
    set_open(pane, row, true);
    while (view_row(view, row)->n_children == 1 && view_row(view, row)->kind == KIND_ROOT) {
        row = view_child(view, row, 0);
        set_open(pane, row, true);
    }
    list_rows(pane, 0);
}

void pane_close(struct pane *pane)
{
    vec_free(&pane->is_open);
    vec_free(&pane->shown);
    vec_free(&pane->zooms);
    pane->view = NULL;
}

void pane_move(struct pane *pane, long rows)
{
    long target = (long)pane->selected + rows;
    long last = (long)pane->shown.n - 1;
    pane->selected = (size_t)(target < 0 ? 0 : target > last ? last : target);
}

static bool is_below(const struct pane *pane, uint32_t row, uint32_t above)
{
    while (row != above && row != 0)
        row = view_row(pane->view, row)->parent;
    return row == above;
}

void pane_select(struct pane *pane, uint32_t row)
{
    while (!is_below(pane, row, pane->root))
        pane_zoom_out(pane);
    for (uint32_t above = row; above != pane->root;) {
        above = view_row(pane->view, above)->parent;
        set_open(pane, above, true);
    }
    list_rows(pane, row);
}

void pane_expand(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    view_start_walk(pane->view);
    set_open(pane, row, true);
    list_rows(pane, row);
}

void pane_collapse(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    set_open(pane, row, false);
    list_rows(pane, row);
}

/* The child with the largest cost; `row` itself when none is large enough. */
static uint32_t hottest_child(struct pane *pane, uint32_t row)
{
    struct view *view = pane->view;
    size_t metric = view->sorting.metric;
    enum cost_part part = view->class->sorted_by;
    view_expand(view, row);
    double most = HOT_SHARE * view_cost(view, row, metric, part);
    uint32_t hottest = row;
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t child = view_child(view, row, i);
        double cost = view_cost(view, child, metric, part);
        if (cost > 0 && (hottest == row ? cost >= most : cost > most)) {
            most = cost;
            hottest = child;
        }
    }
    return hottest;
}

void pane_hot_path(struct pane *pane)
{
    view_start_walk(pane->view);
    uint32_t row = pane_row(pane), next;
    while ((next = hottest_child(pane, row)) != row)
        row = next;
    pane_select(pane, row);
}

void pane_zoom_in(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (row == pane->root)
        return;
    vec_push(&pane->zooms, pane->root);
    pane->root = row;
    view_start_walk(pane->view);
    set_open(pane, row, true);
    list_rows(pane, row);
    pane->top = 0;
}

bool pane_zoom_out(struct pane *pane)
{
    if (pane->zooms.n == 0)
        return false;
    uint32_t row = pane_row(pane);
    pane->root = pane->zooms.at[--pane->zooms.n];
    list_rows(pane, row);
    return true;
}

void pane_sort(struct pane *pane, struct sorting sorting)
{
    uint32_t row = pane_row(pane);
    view_sort(pane->view, sorting);
    list_rows(pane, row);
}

void pane_scroll(struct pane *pane, size_t height)
{
    if (height == 0)
        return;
    if (pane->top > pane->selected)
        pane->top = pane->selected;
    if (pane->selected - pane->top >= height)
        pane->top = pane->selected - height + 1;
    /* No empty lines below while there are rows above. */
    if (pane->shown.n - pane->top < height)
        pane->top = pane->shown.n > height ? pane->shown.n - height : 0;
}
