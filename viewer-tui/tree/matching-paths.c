#include "viewer-tui/tree/matching-paths.h"

#include "viewer-tui/base/task.h"

#include <stdlib.h>

/* Of the progress: parts of the whole. */
#define STEPS 1000000

/* A row on the way from row 0 to the one that is looked at. */
struct step {
    uint32_t row, next; /* `next` is the child to be looked at */
    uint32_t node;      /* NOTHING as long as no match was found below */
    bool is_expanded_here;
    double start, size; /* of its part of the pass, 0..1 */
};

struct pass {
    struct matching_paths *paths;
    const struct filters *filters;
    struct pattern *pattern;
    struct view *view;
    VEC(struct step) path;
};

bool matching_paths_are_for(const struct matching_paths *paths, const struct filters *filters,
                            const struct view *view)
{
    return paths->filters == filters_number(filters) &&
           filters_allow_sorting(filters, paths->sorting, view->sorting);
}

void matching_paths_free(struct matching_paths *paths)
{
    idmap_free(&paths->nodes);
    *paths = (struct matching_paths){0};
}

uint32_t matching_paths_node(const struct matching_paths *paths, const struct view *view,
                             uint32_t above, uint32_t row)
{
    if (above == NOTHING)
        return NOTHING;
    uint32_t ordinal = row - view_row(view, view_row(view, row)->parent)->first_child;
    uint32_t node = idmap_get(&paths->nodes, above, ordinal);
    return node == IDMAP_NONE ? NOTHING : node;
}

/* Makes nodes of the rows on the path that have none. */
static void note_path(struct pass *pass)
{
    size_t i = pass->path.n;
    while (pass->path.at[i - 1].node == NOTHING)
        i--;
    for (; i < pass->path.n; i++) {
        const struct step *above = &pass->path.at[i - 1];
        pass->path.at[i].node = ++pass->paths->n;
        idmap_put(&pass->paths->nodes, above->node, above->next - 1, pass->paths->n);
    }
}

/* Looks at a row, and goes down to it if what is below it is to be looked at. */
static void look_at(struct pass *pass, uint32_t row, double start, double size)
{
    enum visibility visibility = filters_visibility(pass->filters, pass->view, row);
    bool may_match = visibility == ROW_SHOWN || visibility == ROW_FOLDED;
    if (may_match && pattern_matches(pass->pattern, pass->view, row)) {
        pass->paths->n_matches++;
        note_path(pass);
    }
    if (visibility == ROW_FOLDED || visibility == ROW_HIDDEN || view_row(pass->view, row)->is_leaf)
        return;
    bool was_expanded = view_row(pass->view, row)->is_expanded;
    view_expand(pass->view, row);
    vec_push(&pass->path, (struct step){row, 0, NOTHING, !was_expanded, start, size});
}

static void walk(struct pass *pass)
{
    struct view *view = pass->view;
    while (pass->path.n) {
        struct step *step = &pass->path.at[pass->path.n - 1];
        uint32_t n = view_row(view, step->row)->n_children;
        double size = n ? step->size / n : 0, start = step->start + step->next * size;
        bool goes_on = progress_at((uint64_t)(start * STEPS));
        if (goes_on && step->next < n) {
            look_at(pass, view_row(view, step->row)->first_child + step->next++, start, size);
            continue;
        }
        if (step->is_expanded_here)
            view_release(view, step->row);
        pass->path.n--;
    }
}

enum outcome matching_paths_find(struct matching_paths *paths, const struct filters *filters,
                                 struct view *view)
{
    struct pass pass = {paths, filters, filters_only(filters)->pattern, view, {0}};
    paths->filters = filters_number(filters);
    paths->sorting = view->sorting;
    bool was_expanded = view_row(view, 0)->is_expanded;
    view_start_walk(view);
    progress_begin("looking for rows that match", STEPS);
    view_expand(view, 0);
    vec_push(&pass.path, (struct step){0, 0, 0, !was_expanded, 0, 1});
    walk(&pass);
    vec_free(&pass.path);
    enum outcome outcome = progress_end();
    if (outcome != DONE)
        matching_paths_free(paths);
    return outcome;
}
