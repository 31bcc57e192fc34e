#include "viewer-tui/tree/walk.h"

#include <assert.h>

struct cursor_level *cursor_level(struct cursor *cursor)
{
    return cursor->path.n ? &cursor->path.at[cursor->path.n - 1] : NULL;
}

uint32_t cursor_row(struct cursor *cursor)
{
    const struct cursor_level *level = cursor_level(cursor);
    return level ? cursor->children.at[level->first + level->at] : cursor->root;
}

bool cursor_descend(struct cursor *cursor, uint32_t row)
{
    struct cursor_level level = {
        .row = row, .first = cursor->children.n, .n_expanded = cursor->expanded.n};
    filtered_children(cursor->tree, row, &cursor->children, &cursor->expanded);
    level.n = cursor->children.n - level.first;
    if (level.n == 0)
        filtered_release(cursor->tree, &cursor->expanded, level.n_expanded);
    else
        vec_push(&cursor->path, level);
    return level.n > 0;
}

void cursor_ascend(struct cursor *cursor)
{
    assert(cursor->path.n > 0);
    const struct cursor_level *level = &cursor->path.at[--cursor->path.n];
    cursor->children.n = level->first;
    filtered_release(cursor->tree, &cursor->expanded, level->n_expanded);
}

void cursor_free(struct cursor *cursor)
{
    vec_free(&cursor->path);
    vec_free(&cursor->children);
    vec_free(&cursor->expanded);
}

struct walk {
    struct cursor cursor;
    struct view *view;
    const struct limits *limits;
    const open_rows *open;
    const struct visitor *visitor;
    struct left_out left_out;
};

bool row_is_closed(const open_rows *open, uint32_t row)
{
    return open && (row >= open->n || !open->at[row]);
}

/* Whether to visit what is below a row; counts what the limits keep out. */
static bool goes_on_below(struct walk *walk, uint32_t row)
{
    const struct visitor *visitor = walk->visitor;
    uint32_t root_depth = view_row(walk->view, walk->cursor.root)->depth;
    bool is_deep = root_depth + walk->cursor.path.n >= walk->limits->depth;
    bool is_closed = row_is_closed(walk->open, row);
    if (!is_deep && !is_closed)
        return !visitor->skips_below || !visitor->skips_below(visitor->context, walk->view, row);
    bool has_more = filtered_can_open(walk->cursor.tree, row);
    walk->left_out.deep += is_deep && has_more;
    walk->left_out.closed += !is_deep && has_more;
    return false;
}

static void leave(const struct walk *walk, uint32_t row)
{
    if (walk->visitor->leave)
        walk->visitor->leave(walk->visitor->context, walk->view, row);
}

static void enter(struct walk *walk, uint32_t row)
{
    uint32_t level = (uint32_t)walk->cursor.path.n;
    walk->visitor->enter(walk->visitor->context, walk->view, row, level);
    if (!goes_on_below(walk, row) || !cursor_descend(&walk->cursor, row))
        leave(walk, row);
}

struct left_out walk_visible(struct filtered_tree *tree, uint32_t root, const struct limits *limits,
                             const open_rows *open, const struct visitor *visitor)
{
    struct walk walk = {.cursor = {.tree = tree, .root = root},
                        .view = tree->view,
                        .limits = limits,
                        .open = open,
                        .visitor = visitor};
    enter(&walk, root);
    struct cursor_level *level;
    while ((level = cursor_level(&walk.cursor))) {
        if (level->at == level->n) {
            leave(&walk, level->row);
            cursor_ascend(&walk.cursor);
            continue;
        }
        uint32_t child = walk.cursor.children.at[level->first + level->at++];
        if (limits->share >= 0 && view_share(tree->view, child, limits->by, limits->share_of) < limits->share)
            walk.left_out.small++;
        else
            enter(&walk, child);
    }
    cursor_free(&walk.cursor);
    return walk.left_out;
}

static const struct filters no_filters;

void walk_view(struct view *view, uint32_t row, const struct limits *limits,
               const struct visitor *visitor)
{
    struct filtered_tree all = {.view = view, .filters = &no_filters};
    walk_visible(&all, row, limits, NULL, visitor);
}

void walk_unsorted(struct view *view, uint32_t row, const struct limits *limits,
                   const struct visitor *visitor)
{
    struct filtered_tree all = {.view = view, .filters = &no_filters, .is_unsorted = true};
    walk_visible(&all, row, limits, NULL, visitor);
}
