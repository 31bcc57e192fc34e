/* Walking through a whole view from a row on downwards, in the order of its sorting, to find
 * something out; shown.h is for what users see.
 *
 * Rows that are not there yet are made on the way down and given up on the way back, so that
 * memory is needed for one path only; no recursion, so that paths may be of any length. */
#ifndef VIEWER_WALK_H
#define VIEWER_WALK_H

#include "viewer-tui/tree/view.h"

#define NO_DEPTH_LIMIT UINT32_MAX

/* Which rows are visited: the first, and those children of visited ones that are not too deep and
 * whose share of the program's cost is large enough. */
struct limits {
    uint32_t depth; /* below row 0, wherever the walk begins */
    double share;   /* 0..1 */
    enum share_of share_of;
    struct sorting by; /* what it is a share of: metric and part */
};

struct visitor {
    void (*enter)(void *context, struct view *view, uint32_t row);
    void (*leave)(void *context, struct view *view, uint32_t row); /* may be NULL */
    /* Whether what is below a row is not visited; NULL: of none. */
    bool (*is_left_alone)(void *context, const struct view *view, uint32_t row);
    void *context;
};

void walk_view(struct view *view, uint32_t row, const struct limits *limits,
               const struct visitor *visitor);

#endif
