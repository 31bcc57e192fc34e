/* The operations of formulas, and what is known of a part of a formula without computing it: its
 * type. The type of the whole formula is that of its last operation. */
#ifndef VIEWER_FORMULA_TYPE_H
#define VIEWER_FORMULA_TYPE_H

#include "viewer-tui/metrics/formula.h"

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

/* Costs are taken to be 0 or more, as all but differences are. */
struct formula_type {
    enum {
        LITERAL,  /* numbers only: it has whatever unit it needs to have */
        CONSTANT, /* the same in every row */
        ADDITIVE, /* values of rows add up to that of the row above */
        OTHER
    } shape;
    char unit[UNIT_SIZE]; /* "" for none */
    enum formula_bound bound;
    bool may_be_negative;
};

/* The type of what an operation makes of its operands. */
struct formula_type type_of_operation(enum operation op, const struct formula_type *operands);

#endif
