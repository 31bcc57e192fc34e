#include "viewer-tui/tree/row-path.h"

static struct path_step step_of(const struct view *view, uint32_t number)
{
    uint32_t parent = view_row(view, number)->parent;
    uint32_t ordinal = number - view_row(view, parent)->first_child;
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    return (struct path_step){view->side,     row->kind,      row->place, row->line,
                              row->call_file, row->call_line, ordinal};
}

static bool is_same_scope(const struct path_step *a, const struct path_step *b)
{
    return a->side == b->side && a->kind == b->kind && a->place == b->place && a->line == b->line &&
           a->call_file == b->call_file && a->call_line == b->call_line;
}

struct path path_of(const struct view *view, uint32_t row)
{
    struct path path = {0};
    for (; row != 0; row = view_row(view, row)->parent)
        vec_push(&path.steps, step_of(view, row));
    for (size_t i = 0, n = path.steps.n; i < n / 2; i++) {
        struct path_step step = path.steps.at[i];
        path.steps.at[i] = path.steps.at[n - 1 - i];
        path.steps.at[n - 1 - i] = step;
    }
    return path;
}

void path_free(struct path *path)
{
    vec_free(&path->steps);
}

bool path_is(const struct path *a, const struct path *b)
{
    size_t i = 0;
    while (i < a->steps.n && i < b->steps.n && is_same_scope(&a->steps.at[i], &b->steps.at[i]) &&
           a->steps.at[i].ordinal == b->steps.at[i].ordinal)
        i++;
    return i == a->steps.n && i == b->steps.n;
}

/* The child at a step: among equal ones that with its ordinal, else the first. NOTHING if there is
 * none. */
static uint32_t child_at(const struct view *view, uint32_t row, const struct path_step *wanted)
{
    uint32_t found = NOTHING, first = view_row(view, row)->first_child;
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        struct path_step step = step_of(view, first + i);
        if (is_same_scope(&step, wanted) && (found == NOTHING || i == wanted->ordinal))
            found = first + i;
    }
    return found;
}

uint32_t path_find(struct view *view, const struct path *path, size_t *n)
{
    uint32_t row = 0;
    for (*n = 0; *n < path->steps.n; ++*n) {
        view_expand(view, row);
        uint32_t child = child_at(view, row, &path->steps.at[*n]);
        if (child == NOTHING)
            break;
        row = child;
    }
    return row;
}
