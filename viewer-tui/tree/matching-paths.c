/* Prepares filtered trees: finds the rows with a match of a FILTER_ONLY below them. */
#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/filtered-tree.h"
#include "viewer-tui/tree/walk.h"

/* Steps of the whole pass, for its progress. */
#define STEPS 1000000

/* A row on the path to the one being visited. */
struct path_row {
    uint32_t ordinal;   /* which child of the row above, as made */
    uint32_t node;      /* NOTHING as long as no match was found below */
    double start, size; /* of its part of the pass, 0..1 */
    bool skips_below;
};

struct search_pass {
    struct matching_paths *paths;
    const struct filters *filters;
    struct pattern *pattern;
    VEC(struct path_row) path; /* from row 0 on */
};

/* Makes nodes of the rows on the path that have none. */
static void note_path(struct search_pass *pass)
{
    size_t i = pass->path.n;
    while (pass->path.at[i - 1].node == NOTHING)
        i--;
    for (; i < pass->path.n; i++) {
        struct path_row *row = &pass->path.at[i];
        row->node = ++pass->paths->n;
        idmap_put(&pass->paths->nodes, row[-1].node, row->ordinal, row->node);
    }
}

/* Notes a match; false if what is below the row need not be visited. */
static bool look_at(struct search_pass *pass, const struct view *view, uint32_t row)
{
    enum visibility visibility = filters_visibility(pass->filters, view, row);
    bool may_match = visibility == ROW_SHOWN || visibility == ROW_FOLDED;
    if (may_match && pattern_matches(pass->pattern, view, row)) {
        pass->paths->n_matches++;
        note_path(pass);
    }
    return visibility != ROW_FOLDED && visibility != ROW_HIDDEN;
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct search_pass *pass = context;
    pass->path.n = level;
    struct path_row row = {.node = 0, .size = 1}; /* row 0 itself is not looked at */
    if (level > 0) {
        const struct row *parent = view_row(view, view_row(view, number)->parent);
        const struct path_row *above = &pass->path.at[level - 1];
        row.ordinal = number - parent->first_child;
        row.node = NOTHING;
        row.size = above->size / parent->n_children;
        row.start = above->start + row.ordinal * row.size;
        bool goes_on = progress_at((uint64_t)(row.start * STEPS));
        row.skips_below =
            !goes_on || !look_at(pass, view, number) || !pattern_may_match_below(pass->pattern, view, number);
    }
    vec_push(&pass->path, row);
}

static bool skips_below(void *context, const struct view *view, uint32_t row)
{
    const struct search_pass *pass = context;
    (void)view;
    (void)row;
    return pass->path.at[pass->path.n - 1].skips_below;
}

static void forget_paths(struct matching_paths *paths)
{
    idmap_free(&paths->nodes);
    *paths = (struct matching_paths){0};
}

/* Fills empty paths for the filters in force. If STOPPED, they stay empty. */
static enum outcome find_paths(struct matching_paths *paths, const struct filters *filters,
                               struct view *view)
{
    struct search_pass pass = {paths, filters, filters_only(filters)->pattern, {0}};
    struct visitor visitor = {.enter = enter, .skips_below = skips_below, .context = &pass};
    struct limits all = {.depth = NO_DEPTH_LIMIT, .share = -1};
    paths->filters = filters_number(filters);
    paths->sorting = view->sorting;
    progress_begin("looking for rows that match", STEPS);
    walk_unsorted(view, 0, &all, &visitor);
    vec_free(&pass.path);
    enum outcome outcome = progress_end();
    if (outcome != DONE)
        forget_paths(paths);
    return outcome;
}

static bool paths_are_for(const struct matching_paths *paths, const struct filtered_tree *tree)
{
    return paths->filters == filters_number(tree->filters) &&
           filters_allow_sorting(tree->filters, paths->sorting, tree->view->sorting);
}

enum outcome filtered_prepare(struct filtered_tree *tree)
{
    tree->state = filters_number(tree->filters);
    tree->sorting = tree->view->sorting;
    tree->decisions.n = 0;
    tree->was_cut = false;
    if (!filtered_needs_paths(tree))
        return DONE;
    size_t i = 0;
    while (i < MOST_MATCHING_PATHS - 1 && !paths_are_for(&tree->paths[i], tree))
        i++;
    struct matching_paths paths = tree->paths[i]; /* become the first */
    for (; i > 0; i--)
        tree->paths[i] = tree->paths[i - 1];
    tree->paths[0] = paths;
    if (paths_are_for(&tree->paths[0], tree))
        return DONE;
    forget_paths(&tree->paths[0]);
    return find_paths(&tree->paths[0], tree->filters, tree->view);
}
