/* What the lines of a source file cost, for the margin beside the code, by what the view is sorted
 * by.
 *
 * The lines are those of the procedure at a row or around it, in the calling context that the row
 * stands for (flat: in all of them), or of the file, if the row is one. A line costs what its
 * statements cost and, if inclusive costs are asked for, what is called from it and inlined at it.
 * Where that is recursive, costs of a line in several scopes of the flat view may overlap.
 *
 * In the bottom-up view the lines are those from which the callers of the row's callee call, or of
 * the procedure. */
#ifndef VIEWER_LINE_COSTS_H
#define VIEWER_LINE_COSTS_H

#include "viewer-tui/tree/view.h"

struct line_cost {
    uint32_t line;
    double cost;
    bool calls;       /* calls are made from it, or inlined at it */
    bool begins_loop; /* a loop begins at it */
};

/* In ascending order of lines, each of them once. The owner frees it with vec_free. */
struct line_costs {
    struct line_cost *at;
    size_t n, cap;
};

/* Fills an empty `costs`. */
void line_costs_find(struct line_costs *costs, struct view *view, uint32_t row, uint32_t file);

/* NULL for a line that is not there. */
const struct line_cost *line_costs_of(const struct line_costs *costs, uint32_t line);

#endif
