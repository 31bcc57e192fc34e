#include "viewer-tui/views/search.h"

#include "viewer-tui/views/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Rows between two questions whether to go on. */
#define PATIENCE 4096

struct walking {
    struct search *search;
    VEC(uint32_t) expanded; /* rows that were expanded for the search, from the outermost inwards */
    struct text text;
    bool ignores_case;
};

/* Children are worth looking at where they are there, or are not repeated elsewhere. */
static bool may_descend(const struct search *search, uint32_t row)
{
    const struct row *at = view_row(search->view, row);
    if (at->is_expanded)
        return at->n_children > 0;
    return !at->is_leaf && (!search->view->class->shows_callers || row == 0);
}

/* Makes the children for the time being; false when there are none. */
static bool descend(struct walking *walking, uint32_t row)
{
    struct view *view = walking->search->view;
    if (!may_descend(walking->search, row))
        return false;
    if (!view_row(view, row)->is_expanded) {
        view_expand(view, row);
        vec_push(&walking->expanded, row);
    }
    return view_row(view, row)->n_children > 0;
}

/* Gives up the children of a row that were made for the search. */
static void ascend(struct walking *walking, uint32_t row)
{
    if (walking->expanded.n == 0 || walking->expanded.at[walking->expanded.n - 1] != row)
        return;
    walking->expanded.n--;
    view_release(walking->search->view, row);
}

/* The row behind `row` on the screen if everything were open; the root behind the last. */
static uint32_t row_after(struct walking *walking, uint32_t row)
{
    struct view *view = walking->search->view;
    if (descend(walking, row))
        return view_child(view, row, 0);
    for (; row != walking->search->root; row = view_row(view, row)->parent) {
        ascend(walking, row);
        uint32_t parent = view_row(view, row)->parent;
        uint32_t rank = view_rank(view, row) + 1;
        if (rank < view_row(view, parent)->n_children)
            return view_child(view, parent, rank);
    }
    ascend(walking, row);
    return row;
}

static uint32_t last_below(struct walking *walking, uint32_t row)
{
    struct view *view = walking->search->view;
    while (descend(walking, row))
        row = view_child(view, row, view_row(view, row)->n_children - 1);
    return row;
}

/* The row before `row`; behind the root comes the last. */
static uint32_t row_before(struct walking *walking, uint32_t row)
{
    struct view *view = walking->search->view;
    if (row == walking->search->root)
        return last_below(walking, row);
    uint32_t parent = view_row(view, row)->parent;
    uint32_t rank = view_rank(view, row);
    if (rank > 0)
        return last_below(walking, view_child(view, parent, rank - 1));
    ascend(walking, parent);
    return parent;
}

static bool matches(struct walking *walking, uint32_t row)
{
    const struct view *view = walking->search->view;
    text_clear(&walking->text);
    describe_name(view, row, false, &walking->text);
    text_add(&walking->text, "  ");
    describe_location(view, row, false, &walking->text);
    const char *text = text_string(&walking->text), *wanted = walking->search->text;
    return walking->ignores_case ? strcasestr(text, wanted) : strstr(text, wanted);
}

static bool has_upper_case(const char *text)
{
    while (*text && !isupper((unsigned char)*text))
        text++;
    return *text != '\0';
}

uint32_t search_next(struct search *search, uint32_t from)
{
    struct walking walking = {.search = search, .ignores_case = !has_upper_case(search->text)};
    uint32_t row = from, found = NOTHING;
    view_start_walk(search->view);
    for (unsigned long n = 1;; n++) {
        bool is_at_end = row == search->root;
        row = search->backwards ? row_before(&walking, row) : row_after(&walking, row);
        is_at_end = search->backwards ? is_at_end : row == search->root;
        search->has_wrapped |= is_at_end;
        if (matches(&walking, row)) {
            found = row;
            break;
        }
        search->was_cancelled = n % PATIENCE == 0 && search->is_cancelled();
        if (row == from || search->was_cancelled)
            break;
    }
    while (found == NOTHING && walking.expanded.n)
        ascend(&walking, walking.expanded.at[walking.expanded.n - 1]);
    vec_free(&walking.expanded);
    vec_free(&walking.text);
    return found;
}
