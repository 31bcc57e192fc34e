#include "viewer-tui/tree/search.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/walk.h"

/* Rows per question whether to go on: far less than 50 ms. */
#define ROWS_PER_QUESTION 1024

/* A search that has looked at more rows in vain finds out which nodes match. */
#define ROWS_IN_VAIN 8192

/* Goes to the first row below the one at the cursor, or the last; false if there is none. Rows that exist are looked
 * at; others only if they are not repeated elsewhere, and no longer where nothing matches. */
static bool descend(const struct search *search, struct cursor *cursor, unsigned long n)
{
    uint32_t row = cursor_row(cursor);
    struct view *view = search->filtered->view;
    bool may_descend = row == 0 || view_row(view, row)->is_expanded || !view->class->shows_callers;
    if (n > ROWS_IN_VAIN)
        may_descend = may_descend && pattern_may_match_below(search->pattern, view, row);
    if (!may_descend || !cursor_descend(cursor, row))
        return false;
    struct cursor_level *level = cursor_level(cursor);
    level->at = search->backwards ? level->n - 1 : 0;
    return true;
}

/* Goes from the root to a row. */
static void go_to(const struct search *search, struct cursor *cursor, uint32_t row)
{
    autofree row_list path = {0};
    for (; row != search->root; row = filtered_parent(search->filtered, row, search->root))
        vec_push(&path, row);
    while (path.n && descend(search, cursor, 0)) {
        struct cursor_level *level = cursor_level(cursor);
        row = path.at[--path.n];
        level->at = 0;
        while (level->at + 1 < level->n && cursor_row(cursor) != row)
            level->at++;
    }
}

/* Goes to the next row in the direction of the search: from the last one to the root, or backwards from the root to the
 * last one. */
static void step(const struct search *search, struct cursor *cursor, unsigned long n)
{
    struct cursor_level *level = cursor_level(cursor);
    if (!search->backwards) {
        if (descend(search, cursor, n))
            return;
        while ((level = cursor_level(cursor)) && ++level->at == level->n)
            cursor_ascend(cursor);
        return;
    }
    if (level && level->at == 0) {
        cursor_ascend(cursor);
        return;
    }
    if (level)
        level->at--;
    while (descend(search, cursor, n))
        ;
}

/* Looks at one row after the other until one matches. */
static uint32_t look(struct search *search, struct cursor *cursor, uint32_t from)
{
    for (unsigned long n = 1;; n++) {
        bool was_root = cursor->path.n == 0, had_wrapped = search->has_wrapped;
        step(search, cursor, n);
        bool wraps = search->backwards ? was_root : cursor->path.n == 0;
        search->has_wrapped |= wraps;
        uint32_t row = cursor_row(cursor);
        if (pattern_matches(search->pattern, search->filtered->view, row))
            return row;
        bool is_asked = n % ROWS_PER_QUESTION == 0 && search->is_cancelled;
        if (!progress_at(n) || (is_asked && search->is_cancelled(search->context)))
            search->outcome = STOPPED;
        if (row == from || (had_wrapped && wraps) || search->outcome == STOPPED)
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
