#include "viewer-tui/terminal/pane.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/filtered-tree.h"
#include "viewer-tui/tree/view.h"

#include <stdlib.h>

bool pane_is_open(const struct pane *pane, uint32_t row)
{
    return !row_is_closed(&pane->is_open, row);
}

bool pane_can_open(const struct pane *pane, uint32_t row)
{
    return filtered_can_open(pane->filtered, row);
}

size_t pane_level(const struct pane *pane, uint32_t row)
{
    size_t level = 0;
    for (; row != pane->root; row = filtered_parent(pane->filtered, row, pane->root))
        level++;
    return level;
}

static void set_open(struct pane *pane, uint32_t row, bool is_open)
{
    while (pane->is_open.n <= row)
        vec_push(&pane->is_open, false);
    if (is_open)
        view_expand(pane->view, row);
    pane->is_open.at[row] = is_open && view_row(pane->view, row)->is_expanded;
}

const struct start_chain *pane_folded_chain(const struct pane *pane, uint32_t row)
{
    for (size_t i = 0; i < pane->chains.n; i++)
        if (pane->chains.at[i].last == row && !pane->chains.at[i].is_open)
            return &pane->chains.at[i];
    return NULL;
}

/* The chain that begins at a row; NULL if none does. */
static struct start_chain *chain_from(struct pane *pane, uint32_t row)
{
    for (size_t i = 0; i < pane->chains.n; i++)
        if (pane->chains.at[i].first == row)
            return &pane->chains.at[i];
    return NULL;
}

static void set_chain_open(struct pane *pane, struct start_chain *chain, bool is_open)
{
    open_rows *passed_over = &pane->filtered->passed_over;
    if (chain->last == NOTHING)
        return;
    chain->is_open = is_open;
    for (uint32_t row = chain->last; row != chain->first;) {
        row = view_row(pane->view, row)->parent;
        while (passed_over->n <= row)
            vec_push(passed_over, false);
        passed_over->at[row] = !is_open;
        set_open(pane, row, true);
    }
}

static bool is_in_folded_chain(const struct pane *pane, uint32_t row)
{
    return row < pane->filtered->passed_over.n && pane->filtered->passed_over.at[row];
}

/* Folds the chains that begin at one of these rows, each once. True if there are new ones. */
static bool fold_chains(struct pane *pane, const row_list *rows)
{
    size_t n_folded = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t row = rows->at[i];
        if (chain_from(pane, row) || !start_chain_may_begin(pane->view, row))
            continue;
        vec_push(&pane->chains, start_chain_at(pane->view, row));
        struct start_chain *chain = &pane->chains.at[pane->chains.n - 1];
        set_chain_open(pane, chain, false);
        n_folded += chain->last != NOTHING;
    }
    return n_folded > 0;
}

/* Lists the shown rows again. Selects `selected`, or if it is not shown the visible row above it. */
static void list_rows(struct pane *pane, uint32_t selected)
{
    row_list waiting = {0}, children = {0}; /* `waiting` is ordered from bottom to top */
    bool is_found = false;
    pane->shown.n = 0;
    vec_push(&waiting, pane->root);
    while (waiting.n) {
        uint32_t row = waiting.at[--waiting.n];
        if (row == selected) {
            pane->scroller.selected = pane->shown.n;
            is_found = true;
        }
        vec_push(&pane->shown, row);
        if (!pane_is_open(pane, row))
            continue;
        do {
            children.n = 0;
            filtered_children(pane->filtered, row, &children, NULL);
        } while (fold_chains(pane, &children));
        while (children.n)
            vec_push(&waiting, children.at[--children.n]);
    }
    vec_free(&waiting);
    vec_free(&children);
    pane->scroller.n = pane->shown.n;
    if (!is_found)
        list_rows(pane, selected == pane->root ? selected : filtered_parent(pane->filtered, selected, pane->root));
}

void pane_open(struct pane *pane, struct view *view, const struct filters *filters)
{
    *pane = (struct pane){.view = view, .filtered = mem_alloc(sizeof *pane->filtered)};
    *pane->filtered = (struct filtered_tree){.view = view, .filters = filters};
    uint32_t row = 0;
    set_open(pane, row, true);
    while (view_row(view, row)->n_children == 1 && view_row(view, row)->kind <= KIND_PROGRAM) {
        row = view_child(view, row, 0);
        set_open(pane, row, true);
    }
    list_rows(pane, 0);
}

void pane_close(struct pane *pane)
{
    if (pane->filtered)
        filtered_close(pane->filtered);
    free(pane->filtered);
    vec_free(&pane->is_open);
    vec_free(&pane->shown);
    vec_free(&pane->zooms);
    vec_free(&pane->chains);
    vec_free(&pane->open_before);
    *pane = (struct pane){0};
}

void pane_move_up_tree(struct pane *pane)
{
    uint32_t parent = filtered_parent(pane->filtered, pane_row(pane), pane->root);
    while (pane_row(pane) != parent)
        pane->scroller.selected--;
}

static bool is_below(const struct pane *pane, uint32_t row, uint32_t above)
{
    while (row != above && row != 0)
        row = view_row(pane->view, row)->parent;
    return row == above;
}

void pane_select(struct pane *pane, uint32_t row)
{
    assert(row < pane->view->rows.n);
    while (!is_below(pane, row, pane->root))
        pane_zoom_out(pane);
    for (uint32_t above = row; above != pane->root;) {
        above = view_row(pane->view, above)->parent;
        set_open(pane, above, true);
    }
    for (uint32_t above = row; is_in_folded_chain(pane, row); above = view_row(pane->view, above)->parent)
        if (chain_from(pane, above))
            set_chain_open(pane, chain_from(pane, above), true);
    list_rows(pane, row);
}

void pane_expand(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    const struct start_chain *chain = pane_folded_chain(pane, row);
    set_open(pane, row, true);
    if (chain) {
        row = chain->first;
        set_chain_open(pane, chain_from(pane, row), true);
    }
    list_rows(pane, row);
}

void pane_open_row(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    set_open(pane, row, true);
    list_rows(pane, row);
}

void pane_collapse(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    struct start_chain *chain = chain_from(pane, row);
    if (chain && chain->is_open) {
        set_chain_open(pane, chain, false);
        row = chain->last;
    } else {
        set_open(pane, row, false);
    }
    list_rows(pane, row);
}

/* Opens the rows below a row, level by level; false if there are more. */
static bool open_below(struct pane *pane, uint32_t row)
{
    autofree row_list rows = {0};
    bool goes_on = true;
    progress_begin("opening", MOST_OPENED);
    vec_push(&rows, row);
    for (size_t i = 0; i < rows.n && goes_on; i++) {
        uint32_t at = rows.at[i];
        if (filtered_can_open(pane->filtered, at)) {
            set_open(pane, at, true);
            filtered_children(pane->filtered, at, &rows, NULL);
        }
        goes_on = progress_at(rows.n) && (rows.n <= MOST_OPENED || i + 1 == rows.n);
    }
    return progress_end() == DONE && goes_on;
}

bool pane_expand_all(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    bool is_all = open_below(pane, row);
    list_rows(pane, row);
    return is_all;
}

void pane_collapse_all(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    for (uint32_t i = 0; i < pane->is_open.n; i++)
        if (pane->is_open.at[i] && is_below(pane, i, row))
            pane->is_open.at[i] = i == pane->root;
    list_rows(pane, row);
}

uint32_t pane_hottest_child(struct pane *pane, uint32_t row, double share)
{
    struct view *view = pane->view;
    size_t metric = view->sorting.metric;
    enum cost_part part = view->class->sorted_by;
    autofree row_list children = {0};
    filtered_children(pane->filtered, row, &children, NULL);
    double whole = view_cost(view, row, metric, part);
    double sign = whole < 0 ? -1 : 1, most = share * sign * whole;
    uint32_t hottest = row;
    for (size_t i = 0; i < children.n; i++) {
        double cost = sign * view_cost(view, children.at[i], metric, part);
        if (cost > 0 && (hottest == row ? cost >= most : cost > most)) {
            most = cost;
            hottest = children.at[i];
        }
    }
    return hottest;
}

void pane_hot_path(struct pane *pane, double share)
{
    assert(share >= 0 && share <= 1);
    uint32_t row = pane_row(pane), next;
    while ((next = pane_hottest_child(pane, row, share)) != row)
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
    set_open(pane, row, true);
    list_rows(pane, row);
    pane->scroller.top = 0;
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

void pane_zoom_to(struct pane *pane, uint32_t row)
{
    while (!is_below(pane, row, pane->root))
        pane_zoom_out(pane);
    if (row == pane->root)
        return;
    pane_select(pane, row);
    if (pane_row(pane) == row)
        pane_zoom_in(pane);
}

void pane_sort(struct pane *pane, struct sorting sorting)
{
    uint32_t row = pane_row(pane);
    view_sort(pane->view, sorting);
    list_rows(pane, row);
}

void pane_sort_by_shown(struct pane *pane)
{
    const struct metrics *metrics = pane->view->metrics;
    struct sorting sorting = pane->view->sorting;
    const struct metric *metric = &metrics->at[sorting.metric];
    if (metric->is_in[metrics->set])
        return;
    bool is_kind = metric->kind.overhead != METRIC_ABSENT;
    sorting.metric = is_kind ? (size_t)metric->kind.overhead : metrics_first_measured(metrics);
    pane_sort(pane, sorting);
}

static void copy_open(open_rows *to, const open_rows *from)
{
    to->n = 0;
    vec_reserve(to, from->n);
    for (; to->n < from->n; to->n++)
        to->at[to->n] = from->at[to->n];
}

enum outcome pane_filter(struct pane *pane)
{
    uint32_t row = pane_row(pane);
    if (filtered_prepare(pane->filtered) == STOPPED)
        return STOPPED;
    const struct filter *before = pane->only;
    pane->only = pane->view->class->shows_callers ? NULL : filters_only(pane->filtered->filters);
    if (pane->only != before) {
        if (before)
            copy_open(&pane->is_open, &pane->open_before);
        else
            copy_open(&pane->open_before, &pane->is_open);
        if (pane->only)
            open_below(pane, pane->root);
        else
            pane_select(pane, row);
    }
    list_rows(pane, row);
    return DONE;
}

void pane_save(const struct pane *pane, struct pane_state *state)
{
    copy_open(&state->is_open, &pane->is_open);
    state->row = pane_row(pane);
    state->top = pane->scroller.top;
}

void pane_restore(struct pane *pane, const struct pane_state *state)
{
    copy_open(&pane->is_open, &state->is_open);
    list_rows(pane, state->row);
    pane->scroller.top = state->top;
}

void pane_state_free(struct pane_state *state)
{
    vec_free(&state->is_open);
}

void pane_scroll(struct pane *pane, size_t height)
{
    scroller_follow(&pane->scroller, height, pane->shows_below ? height / 3 : 0);
    pane->shows_below &= height == 0;
}
