/* Computes the values of formulas. */
#include "viewer-tui/metrics/formula-operations.h"

#include <assert.h>
#include <math.h>

bool formula_step_names(const struct formula_step *step, size_t *metric)
{
    *metric = step->metric;
    return step->operation == METRIC;
}

double formula_cost_in_array(const void *costs, size_t metric, enum cost_part part)
{
    const struct cost *cost = (const struct cost *)costs + metric;
    return part == INCLUSIVE ? cost->inclusive : cost->exclusive;
}

static double value_of_metric(const struct formula_step *step, const struct formula_input *input, enum cost_part part)
{
    bool is_exclusive =
        step->part == PART_EXCLUSIVE || (step->part == PART_OF_RESULT && part == EXCLUSIVE);
    enum cost_part of_metric = is_exclusive ? EXCLUSIVE : INCLUSIVE;
    bool is_of_row = step->part != PART_OF_PROGRAM;
    if (step->metric < input->n_stored)
        return is_of_row ? input->cost(input->context, step->metric, of_metric)
                         : formula_cost_in_array(input->program, step->metric, of_metric);
    return formula_cost_in_array(is_of_row ? input->derived : input->derived_of_program,
                                 step->metric - input->n_stored, of_metric);
}

static double of_one(enum operation op, double a)
{
    switch (op) {
    case NEGATE: return -a;
    case ABSOLUTE: return fabs(a);
    case SQUARE_ROOT: return sqrt(a);
    case EXPONENTIAL: return exp(a);
    default: return log(a);
    }
}

static double of_two(enum operation op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (op) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case POWER: return pow(a, b);
    case LESS: return a < b;
    case LESS_OR_EQUAL: return a <= b;
    case GREATER: return a > b;
    case GREATER_OR_EQUAL: return a >= b;
    case EQUAL: return a == b;
    case NOT_EQUAL: return a != b;
    case LEAST_OF: return fmin(a, b);
    default: return fmax(a, b);
    }
}

/* Replaces the operands at the end of the stack by the result; returns the new top. */
static double *compute(enum operation op, double *top)
{
    unsigned n = operation_n_operands(op);
    top -= n - 1;
    if (n == 1)
        *top = of_one(op, *top);
    else if (n == 2)
        *top = of_two(op, top[0], top[1]);
    else
        *top = isnan(top[0]) ? NAN : top[0] != 0 ? top[1] : top[2];
    if (!isfinite(*top))
        *top = NAN;
    return top;
}

double formula_value(const struct formula *formula, const struct formula_input *input,
                     enum cost_part part)
{
    double values[MOST_VALUES + 1], *top = values;
    *top = NAN;
    for (size_t i = 0; i < formula->steps.n; i++) {
        const struct formula_step *step = &formula->steps.at[i];
        if (step->operation == NUMBER)
            *++top = step->number;
        else if (step->operation == METRIC)
            *++top = value_of_metric(step, input, part);
        else
            top = compute((enum operation)step->operation, top);
    }
    assert(top - values <= MOST_VALUES);
    return *top;
}
