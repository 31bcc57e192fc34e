#include "viewer-tui/tree/search.h"

#include "viewer-tui/base/task.h"

#include <stdlib.h>

/* Rows between two questions whether to go on: far less than 50 ms. */
#define PATIENCE 1024

/* A row with shown rows below it: the one of them where the search is. */
struct level {
    uint32_t row;
    size_t first, n, at; /* its rows are in children, from `first` on */
    size_t n_expanded;   /* before */
};

/* The way from the root to the row where the search is. */
struct walking {
    struct search *search;
    VEC(struct level) path;
    row_list children; /* of all levels, the innermost last */
    row_list expanded; /* rows that were expanded for the search, from the outermost inwards */
};

/* Children are worth looking at where they are there, or are not repeated elsewhere. */
static bool may_descend(const struct search *search, uint32_t row)
{
    const struct view *view = search->filtered->view;
    return row == 0 || view_row(view, row)->is_expanded || !view->class->shows_callers;
}

/* Goes to the first row below `row`, or the last; false when there is none. */
static bool descend(struct walking *walking, uint32_t row)
{
    struct filtered_tree *filtered = walking->search->filtered;
    struct level level = {row, walking->children.n, 0, 0, walking->expanded.n};
    if (!may_descend(walking->search, row))
        return false;
    filtered_children(filtered, row, &walking->children, &walking->expanded);
    level.n = walking->children.n - level.first;
    level.at = walking->search->backwards ? level.n - 1 : 0;
    if (level.n == 0)
        filtered_release(filtered, &walking->expanded, level.n_expanded);
    else
        vec_push(&walking->path, level);
    return level.n > 0;
}

/* Goes back to the row above; what was made for the search is given up. */
static void ascend(struct walking *walking)
{
    const struct level *level = &walking->path.at[--walking->path.n];
    walking->children.n = level->first;
    filtered_release(walking->search->filtered, &walking->expanded, level->n_expanded);
}

static struct level *innermost(struct walking *walking)
{
    return walking->path.n ? &walking->path.at[walking->path.n - 1] : NULL;
}

static uint32_t where(struct walking *walking)
{
    const struct level *level = innermost(walking);
    return level ? walking->children.at[level->first + level->at] : walking->search->root;
}

/* Goes the way from the root to a row. */
static void go_to(struct walking *walking, uint32_t row)
{
    row_list way = {0};
    for (; row != walking->search->root;
         row = filtered_parent(walking->search->filtered, row, walking->search->root))
        vec_push(&way, row);
    while (way.n && descend(walking, where(walking))) {
        struct level *level = innermost(walking);
        row = way.at[--way.n];
        level->at = 0;
        while (level->at + 1 < level->n && where(walking) != row)
            level->at++;
    }
    vec_free(&way);
}

/* To the row behind this one; the root behind the last. */
static void go_on(struct walking *walking)
{
    if (descend(walking, where(walking)))
        return;
    struct level *level;
    while ((level = innermost(walking)) && ++level->at == level->n)
        ascend(walking);
}

/* To the row before this one; the last before the root. */
static void go_back(struct walking *walking)
{
    struct level *level = innermost(walking);
    if (level && level->at == 0) {
        ascend(walking);
        return;
    }
    if (level)
        level->at--;
    while (descend(walking, where(walking)))
        ;
}

/* Looks at one row after the other until one matches. */
static uint32_t look(struct walking *walking, uint32_t from)
{
    struct search *search = walking->search;
    for (unsigned long n = 1;; n++) {
        bool was_root = walking->path.n == 0;
        if (search->backwards)
            go_back(walking);
        else
            go_on(walking);
        search->has_wrapped |= search->backwards ? was_root : walking->path.n == 0;
        uint32_t row = where(walking);
        if (pattern_matches(search->pattern, search->filtered->view, row))
            return row;
        bool is_cancelled =
            n % PATIENCE == 0 && search->is_cancelled && search->is_cancelled(search->context);
        search->outcome = progress_at(n) && !is_cancelled ? DONE : STOPPED;
        if (row == from || search->outcome == STOPPED)
            return NOTHING;
    }
}

uint32_t search_next(struct search *search, uint32_t from)
{
    struct walking walking = {.search = search};
    view_start_walk(search->filtered->view);
    progress_begin("searching", 0);
    go_to(&walking, from);
    uint32_t found = look(&walking, from);
    progress_end();
    if (found == NOTHING)
        filtered_release(search->filtered, &walking.expanded, 0);
    vec_free(&walking.path);
    vec_free(&walking.children);
    vec_free(&walking.expanded);
    return found;
}
