/* Formulas over metrics, for derived metrics: "$idleness + $overhead".
 *
 *     1.5 1e-3                 numbers
 *     $work  $3  $"work (CPU)" the row's cost in a metric, given by its name or by its number among
 * the shown ones, from 1 on; the part is that of the result $work:exclusive          the same in
 * the given part; or :inclusive
 *     @work  @3  @"work (CPU)" the whole program's cost
 *     + - * / ^ ( )            as usual; -2^2 is -4, 2^3^2 is 2^9
 *     < <= > >= == !=          1 if true, 0 if false
 *     abs sqrt exp log         functions of one value
 *     min max                  functions of two or more values
 *     if(condition, a, b)      a if the condition is not 0, else b
 *
 * A value that is not finite, such as a quotient by zero, is undefined (NAN), and so is everything
 * computed from it, except for the branch that `if` does not choose. */
#ifndef VIEWER_FORMULA_H
#define VIEWER_FORMULA_H

#include "lib/alloc.h"
#include "viewer-tui/base/scope.h"

#include <stdbool.h>
#include <stdint.h>

struct metrics;

/* How a value computed from lower bounds relates to the true one. Example: a sum of lower bounds is
 * a lower bound, a quotient by one is an upper bound. */
enum formula_bound {
    BOUND_EXACT,
    BOUND_LOWER, /* the true value is this or more */
    BOUND_UPPER, /* the true value is this or less */
    BOUND_NONE   /* the true value may lie on either side */
};

/* An error in a formula. */
struct formula_error {
    size_t at; /* offset in the text, at most its length */
    char what[160];
};

/* Which cost of the row or the program a value is. */
enum formula_part { PART_OF_RESULT, PART_INCLUSIVE, PART_EXCLUSIVE, PART_OF_PROGRAM };

/* A step of the computation: pushes a value on a stack, or replaces operands by a result. */
struct formula_step {
    uint8_t operation;   /* enum operation (formula-operations.h) */
    uint8_t part;        /* METRIC: enum formula_part */
    size_t metric;       /* METRIC: its index */
    double number;       /* NUMBER: its value */
    uint32_t at, length; /* METRIC: its place in the text */
};

struct formula {
    VEC(struct formula_step) steps;
    bool is_additive;     /* values of rows add up, so it has percentages */
    enum formula_bound bound;
};

/* Returns a stored cost of a row; `context` says of which. */
typedef double formula_costs(const void *context, size_t metric, enum cost_part part);

/* The same for an array of costs, by metric. */
double formula_cost_in_array(const void *costs, size_t metric, enum cost_part part);

/* What the value of a row is computed from. */
struct formula_input {
    formula_costs *cost;
    const void *context;        /* of `cost` */
    const struct cost *program; /* of the whole program, by stored metric */
    size_t n_stored;            /* metric m from here on is derived[m - n_stored]; set by */
    const struct cost *derived, *derived_of_program; /* derived_value */
};

/* Parses the formula from text[start] to the end. It can name the first n_metrics metrics, to whose indices steps
 * refer. False, with the error, if it is wrong. The caller frees with formula_free. */
bool formula_parse(struct formula *formula, const char *text, size_t start, const struct metrics *metrics,
                   size_t n_metrics, struct formula_error *error);
void formula_free(struct formula *formula);

/* The value of a formula; NAN if undefined. */
double formula_value(const struct formula *formula, const struct formula_input *input,
                     enum cost_part part);

/* Whether a step pushes the value of a metric, and of which one. */
bool formula_step_names(const struct formula_step *step, size_t *metric);

/* Whether the text names a metric. May be true if the name only begins another name. */
bool formula_names(const char *text, const char *metric);

#endif
