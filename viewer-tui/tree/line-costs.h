/* The costs of the lines of a source file in the view's sorting, for the margin beside the code.
 *
 * The lines are those of the procedure at or around a row, in the calling context of the row (flat
 * view: in all contexts); or of the file, if the row is one. A line's cost is that of its
 * statements and, if inclusive costs are wanted, of what is called from it or inlined at it. In
 * recursive code the costs of a line in several scopes of the flat view may overlap.
 *
 * In the bottom-up view the lines are those from which the row's callers call its callee, or of the
 * procedure. */
#ifndef VIEWER_LINE_COSTS_H
#define VIEWER_LINE_COSTS_H

#include "viewer-tui/tree/view.h"

struct line_cost {
    uint32_t line;
    double cost;
    bool calls;       /* calls are made from it, or inlined at it */
    bool begins_loop; /* a loop begins at it */
};

/* Sorted by line, each line once. The owner frees it with vec_free. */
typedef VEC(struct line_cost) line_costs;

/* Fills an empty `costs`. */
void line_costs_find(line_costs *costs, struct view *view, uint32_t row, uint32_t file);

/* NULL if the line has no cost. */
const struct line_cost *line_costs_of(const line_costs *costs, uint32_t line);

#endif
