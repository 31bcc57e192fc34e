/* A view as stacks of frames, what flame graphs and other programs for profiles are made of.
 *
 * Frames are procedures and what is inlined into them, in the top-down view below the entry points
 * of threads, in the flat view in modules and files. Loops and statements are no frames; the row at
 * which the tree begins is one unless it is the whole program. What
 * belongs to a frame itself is what remains when the frames that it contains are taken off, so that
 * the stacks always add up to the whole, also where small or deep scopes are left out, or filters
 * hide some: their costs stay with the frame above. In the bottom-up view stacks begin with the
 * procedure in which the costs arose, and its callers follow. */
#ifndef VIEWER_STACKS_H
#define VIEWER_STACKS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/print.h"

struct stack_visitor {
    void (*enter)(void *context, const struct view *view, uint32_t row);
    /* `own` are the costs of the frame itself, one for each metric, none of them below 0. */
    void (*leave)(void *context, const struct view *view, uint32_t row, const double *own);
    void *context;
};

/* The metrics that stacks are of: what the tree is sorted by, in a comparison what either side has
 * of it; how many these are. */
size_t stacks_metrics(const struct tree *tree, size_t metrics[SIDES]);

/* Visits the frames of a tree, outermost first, with the costs of metrics[0 .. n-1]. */
void stacks_walk(const struct tree *tree, const size_t *metrics, size_t n,
                 const struct stack_visitor *visitor);

/* The name of a frame as one line of valid UTF-8. */
void stacks_name(const struct view *view, uint32_t row, struct text *out);

/* What a metric's costs are multiplied by to be written as whole numbers: times become nanoseconds,
 * others stay as they are. */
double stacks_factor(const struct metric *metric);

#endif
