/* Walks over rows, from a row on downwards, in the order of the view's sorting.
 *
 * Rows that do not exist yet are made on the way down and given up on the way back, so memory is
 * needed for one path and the rows beside it only. No recursion: paths may be of any length. */
#ifndef VIEWER_WALK_H
#define VIEWER_WALK_H

#include "viewer-tui/tree/filtered-tree.h"

#define NO_DEPTH_LIMIT UINT32_MAX

/* Which rows are visited: the first one, and those children of visited rows that are not too deep
 * and whose share of the program's cost is large enough. */
struct limits {
    uint32_t depth; /* below row 0, wherever the walk begins */
    double share;   /* 0..1; negative for all rows */
    enum share_of share_of;
    struct sorting by; /* metric and part that the share is of */
};

/* Functions are called with `context`. */
struct visitor {
    /* `level` counts the visited rows above this one. */
    void (*enter)(void *context, struct view *view, uint32_t row, uint32_t level);
    void (*leave)(void *context, struct view *view, uint32_t row); /* may be NULL */
    /* Whether to skip what is below a row that was entered; NULL: never. */
    bool (*skips_below)(void *context, const struct view *view, uint32_t row);
    void *context;
};

/* What the limits kept out. */
struct left_out {
    uint64_t small;  /* rows with too small a share; the rows below them are not counted */
    uint64_t deep;   /* rows whose children are too deep */
    uint64_t closed; /* rows that are closed and have rows below */
};

/* Visits all rows of a view. */
void walk_view(struct view *view, uint32_t row, const struct limits *limits,
               const struct visitor *visitor);

/* The same in the order in which the rows were made, which saves sorting them. */
void walk_unsorted(struct view *view, uint32_t row, const struct limits *limits,
                   const struct visitor *visitor);

/* Visits the visible rows: those that a tree, which must be prepared, leaves. `open` NULL: all rows
 * are open; else rows below closed ones are skipped. */
struct left_out walk_visible(struct filtered_tree *tree, uint32_t root, const struct limits *limits,
                             const open_rows *open, const struct visitor *visitor);

/* Whether a row is closed; `open` NULL: none is. */
bool row_is_closed(const open_rows *open, uint32_t row);

/* ---- for walks in other orders ---- */

/* A visible row with visible rows below it, and which of these the cursor is at or below. */
struct cursor_level {
    uint32_t row;
    size_t first, n, at; /* rows children[first .. first + n - 1], of which the at-th */
    size_t n_expanded;   /* length of `expanded` before */
};

/* A place in a filtered tree, and the way to it. A zeroed one with a tree and a root is at the
 * root; the owner frees it with cursor_free. */
struct cursor {
    struct filtered_tree *tree;
    uint32_t root;
    VEC(struct cursor_level) path;
    row_list children; /* of all levels, the innermost last */
    row_list expanded; /* rows that were expanded for the cursor, from the outermost inwards */
};

/* The innermost level; NULL at the root. */
struct cursor_level *cursor_level(struct cursor *cursor);

/* The row that the cursor is at. */
uint32_t cursor_row(struct cursor *cursor);

/* Moves from `row`, where the cursor is, to its first visible row below; false if there is none. */
bool cursor_descend(struct cursor *cursor, uint32_t row);

/* Moves to the row above. Rows that were made on the way down are given up. */
void cursor_ascend(struct cursor *cursor);

/* Frees the lists. Expanded rows stay expanded. */
void cursor_free(struct cursor *cursor);

#endif
