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
#ifndef VIEWER_EXPORT_STACKS_H
#define VIEWER_EXPORT_STACKS_H

#include "lib/hash-tables.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/output/print.h"

/* What a frame is in: the procedure, file or module, with its declaration. */
struct export_function {
    char *name;       /* one line of valid UTF-8 */
    const char *file; /* path; NULL if unknown */
    uint32_t line;    /* 0 if unknown */
};

/* An open frame of the current stack. */
struct export_frame {
    uint32_t row, function; /* index in `functions` */
    size_t text_length;     /* for the exporter: length of its text before the frame */
};

/* The export of a tree as stacks. An exporter has one as its first member. */
struct export
{
    const struct tree *tree;
    /* A frame was pushed on the stack; may be NULL. */
    void (*enter)(struct export * export);
    /* The innermost frame is about to be popped; `own` are its own costs, one per metric, none
     * below 0. */
    void (*leave)(struct export * export, const double *own);
    VEC(size_t) metrics; /* whose costs the walk finds */
    VEC(struct export_frame) stack;
    VEC(struct export_function) functions;
    struct idmap numbers; /* (database, kind and place) -> index in `functions` */
    VEC(double) own;      /* by open frame and metric */
    enum cost_part part;
};

/* Adds the metric that the tree is sorted by; of a comparison the two that are compared. */
void export_add_sorted(struct export *export);

/* The index of the function of a row, which is added if it is new. */
uint32_t export_function_of(struct export *export, uint32_t row);

/* Visits the frames, outermost first. */
void export_walk(struct export *export);

/* What turns the costs of metrics.at[i] into whole numbers: times are in nanoseconds, others in their own unit. */
double export_factor(const struct export *export, size_t i);

/* Rounds the costs, times the factors; false if none is above 0. */
bool export_round(const struct export *export, const double *own, double *values);

/* The name of the innermost frame. */
static inline const char *export_name(const struct export *export)
{
    return export->functions.at[export->stack.at[export->stack.n - 1].function].name;
}

void export_free(struct export *export);

#endif
