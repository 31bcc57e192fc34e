#include "viewer-tui/tree/filtered-tree.h"

#include "viewer-tui/base/task.h"

#include <assert.h>

#define ROW_UNKNOWN 0xff

/* Rows that may be elided for one list; those below further ones are not listed. */
#define MOST_ELIDED 100000

void filtered_close(struct filtered_tree *tree)
{
    vec_free(&tree->decisions);
    vec_free(&tree->passed_over);
    for (size_t i = 0; i < MOST_MATCHING_PATHS; i++)
        idmap_free(&tree->paths[i].nodes);
}

bool filtered_needs_paths(const struct filtered_tree *tree)
{
    return filters_only(tree->filters) && !tree->view->class->shows_callers;
}

bool filtered_is_prepared(const struct filtered_tree *tree)
{
    return tree->state == filters_number(tree->filters) &&
           filters_allow_sorting(tree->filters, tree->sorting, tree->view->sorting);
}

uint64_t filtered_n_matches(const struct filtered_tree *tree)
{
    return filtered_needs_paths(tree) ? tree->paths[0].n_matches : 0;
}

static struct decision *known_decision(struct filtered_tree *tree, uint32_t row)
{
    bool is_known = row < tree->decisions.n && tree->decisions.at[row].visibility != ROW_UNKNOWN;
    return is_known ? &tree->decisions.at[row] : NULL;
}

/* Decides on a row; `above` is the decision on its parent. */
static struct decision judge(struct filtered_tree *tree, uint32_t row, struct decision above)
{
    enum visibility visibility = filters_visibility(tree->filters, tree->view, row);
    const struct row *at = view_row(tree->view, row);
    struct filter *only = filters_only(tree->filters);
    uint32_t node = NOTHING; /* unless a match is below */
    if (tree->view->class->shows_callers) {
        /* The rows below a first-level row of the bottom-up view are its callers: they cannot replace it. */
        bool is_left_out = at->depth == 1 && only && !pattern_matches(only->pattern, tree->view, row);
        if (is_left_out || (at->depth == 1 && visibility == ROW_ELIDED))
            visibility = ROW_HIDDEN;
    } else if (only) {
        /* Rows without a match below are shown only if they match, and folded. */
        if (above.node != NOTHING)
            node = idmap_get(&tree->paths[0].nodes, above.node, row - view_row(tree->view, at->parent)->first_child);
        node = node == IDMAP_NONE ? NOTHING : node;
        if (node == NOTHING && visibility != ROW_HIDDEN) {
            bool matches = pattern_matches(only->pattern, tree->view, row);
            visibility = matches && visibility != ROW_ELIDED ? ROW_FOLDED : ROW_HIDDEN;
        }
    }
    return (struct decision){(uint8_t)visibility, node};
}

/* Decides on a row, and first on all undecided rows above it. */
static struct decision decision_on(struct filtered_tree *tree, uint32_t row)
{
    struct decision decision = {ROW_SHOWN, 0};
    autofree row_list unknown = {0};
    for (; row && !known_decision(tree, row); row = view_row(tree->view, row)->parent)
        vec_push(&unknown, row);
    if (row)
        decision = *known_decision(tree, row);
    while (unknown.n) {
        row = unknown.at[--unknown.n];
        decision = judge(tree, row, decision);
        while (tree->decisions.n <= row)
            vec_push(&tree->decisions, (struct decision){ROW_UNKNOWN, NOTHING});
        tree->decisions.at[row] = decision;
    }
    return decision;
}

static enum visibility visibility_of(struct filtered_tree *tree, uint32_t number)
{
    if (number == 0)
        return ROW_SHOWN;
    enum visibility visibility = filters_n(tree->filters) ? decision_on(tree, number).visibility : ROW_SHOWN;
    bool is_passed_over = number < tree->passed_over.n && tree->passed_over.at[number] && !tree->shows_passed_over;
    return visibility == ROW_SHOWN && is_passed_over ? ROW_ELIDED : visibility;
}

bool filtered_can_open(struct filtered_tree *tree, uint32_t number)
{
    const struct row *row = view_row(tree->view, number);
    if (row->is_leaf || visibility_of(tree, number) == ROW_FOLDED)
        return false;
    if (!row->is_expanded)
        return true;
    uint32_t first = row->first_child, n = row->n_children, i = 0;
    while (i < n && visibility_of(tree, first + i) == ROW_HIDDEN)
        i++;
    return i < n;
}

/* A list of visible rows that is being made. */
struct listing {
    struct filtered_tree *tree;
    row_list *into, *expanded;
    row_list elided; /* rows whose children are still to be listed */
    size_t n_elided;
};

static void expand(struct listing *listing, uint32_t row)
{
    struct view *view = listing->tree->view;
    bool was_expanded = view_row(view, row)->is_expanded;
    view_expand(view, row);
    if (listing->expanded && !was_expanded && view_row(view, row)->is_expanded)
        vec_push(listing->expanded, row);
}

static void elide(struct listing *listing, uint32_t row)
{
    expand(listing, row);
    listing->n_elided++;
    if (view_row(listing->tree->view, row)->n_children > 0)
        vec_push(&listing->elided, row);
}

static void list_below(struct listing *listing, uint32_t row)
{
    struct filtered_tree *tree = listing->tree;
    struct view *view = tree->view;
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t child =
            tree->is_unsorted ? view_row(view, row)->first_child + i : view_child(view, row, i);
        enum visibility visibility = visibility_of(tree, child);
        if (visibility == ROW_ELIDED)
            elide(listing, child);
        else if (visibility != ROW_HIDDEN)
            vec_push(listing->into, child);
    }
}

static void list_below_elided(struct listing *listing)
{
    struct filtered_tree *tree = listing->tree;
    progress_begin("listing rows below hidden ones", 0);
    bool goes_on = true;
    while (listing->elided.n && goes_on) {
        list_below(listing, listing->elided.at[--listing->elided.n]);
        goes_on = progress_at(listing->n_elided) && listing->n_elided < MOST_ELIDED;
    }
    progress_end();
    tree->was_cut |= listing->elided.n > 0;
}

void filtered_children(struct filtered_tree *tree, uint32_t row, row_list *children,
                       row_list *expanded)
{
    struct listing listing = {.tree = tree, .into = children, .expanded = expanded};
    size_t first = children->n;
    if (visibility_of(tree, row) == ROW_FOLDED)
        return;
    expand(&listing, row);
    list_below(&listing, row);
    if (listing.n_elided) {
        list_below_elided(&listing);
        view_sort_rows(tree->view, children->at + first, children->n - first);
    }
    vec_free(&listing.elided);
}

void filtered_release(struct filtered_tree *tree, row_list *expanded, size_t keep)
{
    assert(keep <= expanded->n);
    while (expanded->n > keep)
        view_release(tree->view, expanded->at[--expanded->n]);
    if (tree->decisions.n > tree->view->rows.n)
        tree->decisions.n = tree->view->rows.n;
}

uint32_t filtered_parent(struct filtered_tree *tree, uint32_t row, uint32_t root)
{
    while (row != root) {
        row = view_row(tree->view, row)->parent;
        if (row == 0 || visibility_of(tree, row) != ROW_ELIDED)
            break;
    }
    return row;
}
