#include "viewer-tui/tree/filtered-tree.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/order.h"

#include <stdlib.h>

#define ROW_UNKNOWN 0xff

/* Rows that may be elided for one list; more are not looked behind. */
#define MOST_ELIDED 100000

void filtered_open(struct filtered_tree *filtered, struct view *view, const struct filters *filters)
{
    *filtered = (struct filtered_tree){.view = view, .filters = filters};
}

void filtered_close(struct filtered_tree *filtered)
{
    vec_free(&filtered->decisions);
    for (size_t i = 0; i < MOST_MATCHING_PATHS; i++)
        matching_paths_free(&filtered->paths[i]);
}

static bool needs_paths(const struct filtered_tree *filtered)
{
    return filters_only(filtered->filters) && !filtered->view->class->shows_callers;
}

/* Puts the paths of this index first. */
static void bring_to_front(struct filtered_tree *filtered, size_t index)
{
    struct matching_paths paths = filtered->paths[index];
    for (; index > 0; index--)
        filtered->paths[index] = filtered->paths[index - 1];
    filtered->paths[0] = paths;
}

static enum outcome find_paths(struct filtered_tree *filtered)
{
    for (size_t i = 0; i < MOST_MATCHING_PATHS; i++)
        if (matching_paths_are_for(&filtered->paths[i], filtered->filters, filtered->view)) {
            bring_to_front(filtered, i);
            return DONE;
        }
    matching_paths_free(&filtered->paths[MOST_MATCHING_PATHS - 1]);
    bring_to_front(filtered, MOST_MATCHING_PATHS - 1);
    return matching_paths_find(&filtered->paths[0], filtered->filters, filtered->view);
}

bool filtered_is_prepared(const struct filtered_tree *filtered)
{
    return filtered->state == filters_number(filtered->filters) &&
           filters_allow_sorting(filtered->filters, filtered->sorting, filtered->view->sorting);
}

enum outcome filtered_prepare(struct filtered_tree *filtered)
{
    filtered->state = filters_number(filtered->filters);
    filtered->sorting = filtered->view->sorting;
    filtered->decisions.n = 0;
    filtered->was_cut = false;
    return needs_paths(filtered) ? find_paths(filtered) : DONE;
}

uint64_t filtered_n_matches(const struct filtered_tree *filtered)
{
    return needs_paths(filtered) ? filtered->paths[0].n_matches : 0;
}

static struct decision *known_decision(struct filtered_tree *filtered, uint32_t row)
{
    bool is_known =
        row < filtered->decisions.n && filtered->decisions.at[row].visibility != ROW_UNKNOWN;
    return is_known ? &filtered->decisions.at[row] : NULL;
}

static void remember(struct filtered_tree *filtered, uint32_t row, struct decision decision)
{
    while (filtered->decisions.n <= row)
        vec_push(&filtered->decisions, (struct decision){ROW_UNKNOWN, NOTHING});
    filtered->decisions.at[row] = decision;
}

/* What is below a first-level row of callers are its callers: they cannot take its place. */
static enum visibility visibility_among_callers(struct filtered_tree *filtered, uint32_t row,
                                                enum visibility visibility)
{
    struct filter *only = filters_only(filtered->filters);
    if (view_row(filtered->view, row)->depth != 1)
        return visibility;
    bool is_left_out = only && !pattern_matches(only->pattern, filtered->view, row);
    return is_left_out || visibility == ROW_ELIDED ? ROW_HIDDEN : visibility;
}

/* With FILTER_ONLY: nothing is to be shown below rows that lead nowhere. */
static enum visibility visibility_by_match(struct filtered_tree *filtered, uint32_t row,
                                           enum visibility visibility, bool leads_on)
{
    if (leads_on || visibility == ROW_HIDDEN)
        return visibility;
    bool matches = pattern_matches(filters_only(filtered->filters)->pattern, filtered->view, row);
    return matches && visibility != ROW_ELIDED ? ROW_FOLDED : ROW_HIDDEN;
}

/* `above` is the decision on the row above. */
static struct decision judge(struct filtered_tree *filtered, uint32_t row, struct decision above)
{
    enum visibility visibility = filters_visibility(filtered->filters, filtered->view, row);
    uint32_t node = NOTHING;
    if (filtered->view->class->shows_callers) {
        visibility = visibility_among_callers(filtered, row, visibility);
    } else if (filters_only(filtered->filters)) {
        node = matching_paths_node(&filtered->paths[0], filtered->view, above.node, row);
        visibility = visibility_by_match(filtered, row, visibility, node != NOTHING);
    }
    return (struct decision){(uint8_t)visibility, node};
}

/* Decisions are passed from the nearest row above that has one. */
static struct decision decision_on(struct filtered_tree *filtered, uint32_t row)
{
    struct decision decision = {ROW_SHOWN, 0};
    row_list unknown = {0};
    for (; row && !known_decision(filtered, row); row = view_row(filtered->view, row)->parent)
        vec_push(&unknown, row);
    if (row)
        decision = *known_decision(filtered, row);
    while (unknown.n) {
        row = unknown.at[--unknown.n];
        decision = judge(filtered, row, decision);
        remember(filtered, row, decision);
    }
    vec_free(&unknown);
    return decision;
}

static bool is_flattened(const struct filtered_tree *filtered, uint32_t number)
{
    const struct row *row = view_row(filtered->view, number);
    return row->depth <= filtered->flat_depth && !row->is_leaf;
}

enum visibility filtered_visibility(struct filtered_tree *filtered, uint32_t row)
{
    if (row == 0)
        return ROW_SHOWN;
    enum visibility visibility =
        filters_n(filtered->filters) ? decision_on(filtered, row).visibility : ROW_SHOWN;
    return visibility == ROW_SHOWN && is_flattened(filtered, row) ? ROW_ELIDED : visibility;
}

bool filtered_can_open(struct filtered_tree *filtered, uint32_t number)
{
    const struct row *row = view_row(filtered->view, number);
    if (row->is_leaf || filtered_visibility(filtered, number) == ROW_FOLDED)
        return false;
    if (!row->is_expanded)
        return true;
    uint32_t first = row->first_child, n = row->n_children, i = 0;
    while (i < n && filtered_visibility(filtered, first + i) == ROW_HIDDEN)
        i++;
    return i < n;
}

/* Rows on their way into a list. */
struct listing {
    struct filtered_tree *filtered;
    row_list *into, *expanded;
    row_list elided; /* that have not been looked behind */
    size_t n_elided;
};

static void expand(struct listing *listing, uint32_t row)
{
    struct view *view = listing->filtered->view;
    bool was_expanded = view_row(view, row)->is_expanded;
    view_expand(view, row);
    if (listing->expanded && !was_expanded && view_row(view, row)->is_expanded)
        vec_push(listing->expanded, row);
}

/* What is elided only because it is on a flat level stays where there is nothing behind it. */
static void elide(struct listing *listing, uint32_t row)
{
    expand(listing, row);
    listing->n_elided++;
    if (view_row(listing->filtered->view, row)->n_children > 0)
        vec_push(&listing->elided, row);
    else if (!filters_n(listing->filtered->filters) ||
             decision_on(listing->filtered, row).visibility == ROW_SHOWN)
        vec_push(listing->into, row);
}

static void list_below(struct listing *listing, uint32_t row)
{
    struct filtered_tree *filtered = listing->filtered;
    for (uint32_t i = 0; i < view_row(filtered->view, row)->n_children; i++) {
        uint32_t child = view_child(filtered->view, row, i);
        enum visibility visibility = filtered_visibility(filtered, child);
        if (visibility == ROW_ELIDED)
            elide(listing, child);
        else if (visibility != ROW_HIDDEN)
            vec_push(listing->into, child);
    }
}

static void list_behind_elided(struct listing *listing)
{
    struct filtered_tree *filtered = listing->filtered;
    progress_begin("looking behind what is left out", 0);
    bool goes_on = true;
    while (listing->elided.n && goes_on) {
        list_below(listing, listing->elided.at[--listing->elided.n]);
        goes_on = progress_at(listing->n_elided) && listing->n_elided < MOST_ELIDED;
    }
    progress_end();
    filtered->was_cut |= listing->elided.n > 0;
}

void filtered_children(struct filtered_tree *filtered, uint32_t row, row_list *children,
                       row_list *expanded)
{
    struct listing listing = {.filtered = filtered, .into = children, .expanded = expanded};
    size_t first = children->n;
    if (filtered_visibility(filtered, row) == ROW_FOLDED)
        return;
    expand(&listing, row);
    list_below(&listing, row);
    if (listing.n_elided) {
        list_behind_elided(&listing);
        view_sort_rows(filtered->view, children->at + first, children->n - first);
    }
    vec_free(&listing.elided);
}

void filtered_release(struct filtered_tree *filtered, row_list *expanded, size_t keep)
{
    while (expanded->n > keep)
        view_release(filtered->view, expanded->at[--expanded->n]);
    if (filtered->decisions.n > filtered->view->rows.n)
        filtered->decisions.n = filtered->view->rows.n;
}

uint32_t filtered_parent(struct filtered_tree *filtered, uint32_t row, uint32_t root)
{
    while (row != root) {
        row = view_row(filtered->view, row)->parent;
        if (row == 0 || filtered_visibility(filtered, row) != ROW_ELIDED)
            break;
    }
    return row;
}
