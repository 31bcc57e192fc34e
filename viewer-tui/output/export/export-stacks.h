/* A view as stacks of frames, for flame graphs and other programs for profiles.
 *
 * Frames are procedures and the code inlined into them; in the top-down view below the entry points
 * of threads, in the flat view below modules and files. Loops and statements are no frames. The row
 * at which the tree begins is a frame unless it is the whole program.
 *
 * The own costs of a frame are its costs minus those of the frames in it. So stacks always add up
 * to the whole: the costs of scopes that are left out, since they are small, deep or filtered, stay
 * with the frame above. In the bottom-up view a stack begins with the procedure that has the costs;
 * its callers follow. */
#ifndef VIEWER_STACKS_H
#define VIEWER_STACKS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/print.h"

struct stack_visitor {
    void (*enter)(void *context, const struct view *view, uint32_t row);
    /* `own`: the frame's own costs, one per metric, none below 0. */
    void (*leave)(void *context, const struct view *view, uint32_t row, const double *own);
    void *context;
};

/* The metrics of the stacks: the one that the tree is sorted by; of a comparison the two that are
 * compared. Returns their number. */
size_t stacks_metrics(const struct tree *tree, size_t metrics[SIDES]);

/* Visits the frames of a tree, outermost first, with the costs of metrics[0 .. n-1]. */
void stacks_walk(const struct tree *tree, const size_t *metrics, size_t n,
                 const struct stack_visitor *visitor);

/* The name of a frame, one line of valid UTF-8. */
void stacks_name(const struct view *view, uint32_t row, struct text *out);

/* The factor that turns a metric's costs into whole numbers: times become nanoseconds, others stay
 * as they are. */
double stacks_factor(const struct metric *metric);

#endif
