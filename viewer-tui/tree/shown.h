/* Walking through what a filtered leaves of a view, from a row on downwards, in the order of its
 * sorting: what is on the screen, and what is printed.
 *
 * Rows that are not there yet are made on the way down and given up on the way back, so that memory
 * is needed for one path and the rows beside it only; no recursion, so that paths may be of any
 * length. */
#ifndef VIEWER_SHOWN_H
#define VIEWER_SHOWN_H

#include "viewer-tui/tree/filtered-tree.h"
#include "viewer-tui/tree/walk.h"

/* What the limits kept out. */
struct left_out {
    uint64_t small;  /* rows with too small a share; theirs below are not counted */
    uint64_t deep;   /* rows whose children are too deep */
    uint64_t closed; /* rows that are closed, with something below */
};

/* `level` counts from the row at which the walk begins: what is left out is no level. */
struct visible_visitor {
    void (*enter)(void *context, struct view *view, uint32_t row, uint32_t level);
    void (*leave)(void *context, struct view *view, uint32_t row); /* may be NULL */
    void *context;
};

/* Whether a row is closed; `open` NULL: none is. */
bool row_is_closed(const open_rows *open, uint32_t row);

/* The filtered is to be prepared. Nothing is visited below rows that are closed. */
struct left_out walk_visible(struct filtered_tree *filtered, uint32_t root,
                             const struct limits *limits, const open_rows *open,
                             const struct visible_visitor *visitor);

#endif
