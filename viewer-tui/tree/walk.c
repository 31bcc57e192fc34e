#include "viewer-tui/tree/walk.h"

#include "viewer-tui/tree/order.h"

#include <stdlib.h>

/* A row that was entered and how many of its children were looked at. */
struct step {
    uint32_t row, next;
    bool is_expanded_here;
};

struct walk {
    struct view *view;
    const struct limits *limits;
    const struct visitor *visitor;
    VEC(struct step) path;
};

static void enter(struct walk *walk, uint32_t row)
{
    const struct visitor *visitor = walk->visitor;
    const struct row *entered = view_row(walk->view, row);
    bool is_deep = entered->depth >= walk->limits->depth;
    struct step step = {.row = row, .is_expanded_here = !entered->is_expanded};
    visitor->enter(visitor->context, walk->view, row);
    if (is_deep ||
        (visitor->is_left_alone && visitor->is_left_alone(visitor->context, walk->view, row)))
        step.next = view_row(walk->view, row)->n_children;
    else
        view_expand(walk->view, row);
    vec_push(&walk->path, step);
}

static void leave(struct walk *walk)
{
    const struct step *step = &walk->path.at[--walk->path.n];
    if (walk->visitor->leave)
        walk->visitor->leave(walk->visitor->context, walk->view, step->row);
    if (step->is_expanded_here)
        view_release(walk->view, step->row);
}

void walk_view(struct view *view, uint32_t row, const struct limits *limits,
               const struct visitor *visitor)
{
    struct walk walk = {.view = view, .limits = limits, .visitor = visitor};
    view_start_walk(view);
    enter(&walk, row);
    while (walk.path.n) {
        struct step *step = &walk.path.at[walk.path.n - 1];
        if (step->next == view_row(view, step->row)->n_children) {
            leave(&walk);
            continue;
        }
        uint32_t child = view_child(view, step->row, step->next++);
        if (view_share(view, child, limits->by, limits->share_of) >= limits->share)
            enter(&walk, child);
    }
    vec_free(&walk.path);
}
