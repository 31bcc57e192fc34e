#include "viewer-tui/walk.h"

#include <stdlib.h>

/* A row that was entered and how many of its children were looked at. */
struct step {
    uint32_t row, next;
};

struct walk {
    struct view *view;
    const struct limits *limits;
    const struct visitor *visitor;
    struct left_out left_out;
    VEC(struct step) path;
};

static void enter(struct walk *walk, uint32_t row)
{
    const struct row *entered = view_row(walk->view, row);
    walk->visitor->enter(walk->visitor->context, walk->view, row);
    if (entered->depth < walk->limits->depth)
        view_expand(walk->view, row);
    else if (!entered->is_leaf)
        walk->left_out.deep++;
    vec_push(&walk->path, (struct step){row, 0});
}

static void leave(struct walk *walk)
{
    uint32_t row = walk->path.at[--walk->path.n].row;
    if (walk->visitor->leave)
        walk->visitor->leave(walk->visitor->context, walk->view, row);
    view_release(walk->view, row);
}

struct left_out walk_view(struct view *view, const struct limits *limits,
                          const struct visitor *visitor)
{
    struct walk walk = {.view = view, .limits = limits, .visitor = visitor};
    view_start_walk(view);
    enter(&walk, 0);
    while (walk.path.n) {
        struct step *step = &walk.path.at[walk.path.n - 1];
        if (step->next == view_row(view, step->row)->n_children) {
            leave(&walk);
            continue;
        }
        uint32_t child = view_child(view, step->row, step->next++);
        if (view_share(view, child, limits->metric, limits->part) < limits->share)
            walk.left_out.small++;
        else
            enter(&walk, child);
    }
    vec_free(&walk.path);
    return walk.left_out;
}
