#include "viewer-tui/tree/search.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/walk.h"

#include <stdlib.h>

/* Rows per question whether to go on: far less than 50 ms. */
#define ROWS_PER_QUESTION 1024

/* Rows that exist are looked at; others only if they are not repeated elsewhere. */
static bool may_descend(const struct search *search, uint32_t row)
{
    const struct view *view = search->filtered->view;
    return row == 0 || view_row(view, row)->is_expanded || !view->class->shows_callers;
}

/* Goes to the first row below the one at the cursor, or the last; false if there is none. */
static bool descend(const struct search *search, struct cursor *cursor)
{
    uint32_t row = cursor_row(cursor);
    if (!may_descend(search, row) || !cursor_descend(cursor, row))
        return false;
    struct cursor_level *level = cursor_level(cursor);
    level->at = search->backwards ? level->n - 1 : 0;
    return true;
}

/* Goes from the root to a row. */
static void go_to(const struct search *search, struct cursor *cursor, uint32_t row)
{
    row_list path = {0};
    for (; row != search->root; row = filtered_parent(search->filtered, row, search->root))
        vec_push(&path, row);
    while (path.n && descend(search, cursor)) {
        struct cursor_level *level = cursor_level(cursor);
        row = path.at[--path.n];
        level->at = 0;
        while (level->at + 1 < level->n && cursor_row(cursor) != row)
            level->at++;
    }
    vec_free(&path);
}

/* Goes to the next row; from the last one to the root. */
static void go_on(const struct search *search, struct cursor *cursor)
{
    if (descend(search, cursor))
        return;
    struct cursor_level *level;
    while ((level = cursor_level(cursor)) && ++level->at == level->n)
        cursor_ascend(cursor);
}

/* Goes to the previous row; from the root to the last one. */
static void go_back(const struct search *search, struct cursor *cursor)
{
    struct cursor_level *level = cursor_level(cursor);
    if (level && level->at == 0) {
        cursor_ascend(cursor);
        return;
    }
    if (level)
        level->at--;
    while (descend(search, cursor))
        ;
}

/* Whether the user wants to stop after `n` rows. */
static bool must_stop(const struct search *search, unsigned long n)
{
    bool is_cancelled =
        n % ROWS_PER_QUESTION == 0 && search->is_cancelled && search->is_cancelled(search->context);
    return !progress_at(n) || is_cancelled;
}

/* Looks at one row after the other until one matches. */
static uint32_t look(struct search *search, struct cursor *cursor, uint32_t from)
{
    for (unsigned long n = 1;; n++) {
        bool was_root = cursor->path.n == 0;
        if (search->backwards)
            go_back(search, cursor);
        else
            go_on(search, cursor);
        search->has_wrapped |= search->backwards ? was_root : cursor->path.n == 0;
        uint32_t row = cursor_row(cursor);
        if (pattern_matches(search->pattern, search->filtered->view, row))
            return row;
        if (must_stop(search, n))
            search->outcome = STOPPED;
        if (row == from || search->outcome == STOPPED)
            return NOTHING;
    }
}

uint32_t search_next(struct search *search, uint32_t from)
{
    struct cursor cursor = {.tree = search->filtered, .root = search->root};
    search->outcome = DONE;
    progress_begin("searching", 0);
    go_to(search, &cursor, from);
    uint32_t found = look(search, &cursor, from);
    progress_end();
    if (found == NOTHING)
        filtered_release(search->filtered, &cursor.expanded, 0);
    cursor_free(&cursor);
    return found;
}
