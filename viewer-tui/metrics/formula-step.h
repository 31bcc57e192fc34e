/* The steps of a formula's computation, for what makes them and what takes them. */
#ifndef VIEWER_FORMULA_STEP_H
#define VIEWER_FORMULA_STEP_H

/* Values that wait for an operator at the same time: far more than in what people write. */
#define MOST_VALUES 200

enum operation {
    NUMBER,
    METRIC,
    NEGATE,
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
    ABSOLUTE,
    SQUARE_ROOT,
    EXPONENTIAL,
    LOGARITHM,
    CHOICE
};

#endif
