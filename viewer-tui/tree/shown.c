#include "viewer-tui/tree/shown.h"

#include <stdlib.h>

/* A row that was entered: its rows below are in `children`, from `first` on. */
struct step {
    uint32_t row;
    size_t first, next, end;
    size_t n_expanded; /* before */
};

struct walk {
    struct filtered_tree *filtered;
    const struct limits *limits;
    const open_rows *open;
    const struct visible_visitor *visitor;
    uint32_t root_depth;
    struct left_out left_out;
    VEC(struct step) path;
    row_list children; /* of all rows on the path, the innermost last */
    row_list expanded; /* rows that were expanded for the walk, from the outermost inwards */
};

bool row_is_closed(const open_rows *open, uint32_t row)
{
    return open && (row >= open->n || !open->at[row]);
}

/* Whether what is below a row is to be visited; counts what is not. */
static bool goes_on_below(struct walk *walk, uint32_t row)
{
    bool is_deep = walk->root_depth + walk->path.n >= walk->limits->depth;
    bool is_closed = row_is_closed(walk->open, row);
    if (!is_deep && !is_closed)
        return true;
    bool has_more = filtered_can_open(walk->filtered, row);
    walk->left_out.deep += is_deep && has_more;
    walk->left_out.closed += !is_deep && has_more;
    return false;
}

static void enter(struct walk *walk, uint32_t row)
{
    struct step step = {.row = row, .first = walk->children.n, .n_expanded = walk->expanded.n};
    walk->visitor->enter(walk->visitor->context, walk->filtered->view, row, (uint32_t)walk->path.n);
    if (goes_on_below(walk, row))
        filtered_children(walk->filtered, row, &walk->children, &walk->expanded);
    step.next = step.first;
    step.end = walk->children.n;
    vec_push(&walk->path, step);
}

static void leave(struct walk *walk)
{
    const struct step *step = &walk->path.at[--walk->path.n];
    if (walk->visitor->leave)
        walk->visitor->leave(walk->visitor->context, walk->filtered->view, step->row);
    walk->children.n = step->first;
    filtered_release(walk->filtered, &walk->expanded, step->n_expanded);
}

struct left_out walk_visible(struct filtered_tree *filtered, uint32_t root,
                             const struct limits *limits, const open_rows *open,
                             const struct visible_visitor *visitor)
{
    struct view *view = filtered->view;
    struct walk walk = {.filtered = filtered,
                        .limits = limits,
                        .open = open,
                        .visitor = visitor,
                        .root_depth = view_row(view, root)->depth};
    view_start_walk(view);
    enter(&walk, root);
    while (walk.path.n) {
        struct step *step = &walk.path.at[walk.path.n - 1];
        if (step->next == step->end) {
            leave(&walk);
            continue;
        }
        uint32_t child = walk.children.at[step->next++];
        if (view_share(view, child, limits->by, limits->share_of) < limits->share)
            walk.left_out.small++;
        else
            enter(&walk, child);
    }
    vec_free(&walk.path);
    vec_free(&walk.children);
    vec_free(&walk.expanded);
    return walk.left_out;
}
