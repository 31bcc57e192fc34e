/* What a formula makes of lower bounds: a sum of them is one, a quotient by one is not.
 *
 * Costs are taken to be 0 or more, as all but differences are. Where a step's result may lie on
 * either side of what is computed, nothing can be said, and so of what is computed from it. */
#ifndef VIEWER_FORMULA_BOUND_H
#define VIEWER_FORMULA_BOUND_H

#include "viewer-tui/metrics/formula.h"

enum formula_bound {
    BOUND_EXACT,
    BOUND_LOWER, /* the true value is this or more */
    BOUND_UPPER, /* this or less */
    BOUND_NONE   /* not known */
};

/* What a formula's value is, where the metrics m with is_bound[m] are lower bounds. */
enum formula_bound formula_bound_of(const struct formula *formula, const bool *is_bound);

#endif
