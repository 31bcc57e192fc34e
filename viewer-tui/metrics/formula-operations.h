/* The operations of formulas: for the parser, and what goes through its steps. */
#ifndef VIEWER_FORMULA_OPERATIONS_H
#define VIEWER_FORMULA_OPERATIONS_H

#include "viewer-tui/metrics/metric.h"

/* Values that wait for an operator at the same time: far more than in what people write. */
#define MOST_VALUES 200

enum operation {
    NUMBER,
    METRIC,
    NEGATE,
    ABSOLUTE,
    SQUARE_ROOT,
    EXPONENTIAL,
    LOGARITHM,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    POWER,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    EQUAL,
    NOT_EQUAL,
    LEAST_OF,
    LARGEST_OF,
    CHOICE /* of its second and third operand by the first: if(condition, a, b) */
};

static inline unsigned operation_n_operands(enum operation op)
{
    return op < NEGATE ? 0 : op < ADD ? 1 : op < CHOICE ? 2 : 3;
}

/* Finds is_additive and bound, which formula_parse does. */
void formula_find_bounds(struct formula *formula, const struct metrics *metrics);

#endif
