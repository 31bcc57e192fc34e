/* What is known of the values of a formula without computing them: whether those of rows add up, and how they relate
 * to the true ones if some metrics are lower bounds. */
#include "viewer-tui/metrics/formula-operations.h"

/* Values of a part of the formula. Costs are taken to be 0 or more, as all but differences are. */
struct known {
    enum { CONSTANT, ADDITIVE, OTHER } shape; /* the same in every row; adding up to that of the row above */
    enum formula_bound bound;
    bool may_be_negative;
};

static enum formula_bound opposite(enum formula_bound bound)
{
    static const enum formula_bound opposites[] = {[BOUND_EXACT] = BOUND_EXACT,
                                                   [BOUND_LOWER] = BOUND_UPPER,
                                                   [BOUND_UPPER] = BOUND_LOWER,
                                                   [BOUND_NONE] = BOUND_NONE};
    return opposites[bound];
}

/* The bound of a value that grows with both. */
static enum formula_bound both(enum formula_bound a, enum formula_bound b)
{
    if (a == BOUND_EXACT || a == b)
        return b;
    return b == BOUND_EXACT ? a : BOUND_NONE;
}

/* The bound of a value that may grow or shrink with each. */
static enum formula_bound if_exact(enum formula_bound a, enum formula_bound b)
{
    return a == BOUND_EXACT && b == BOUND_EXACT ? BOUND_EXACT : BOUND_NONE;
}

/* What an operation makes of one value, or of two. */
static struct known of_operands(enum operation op, struct known a, struct known b)
{
    bool is_negative = a.may_be_negative || b.may_be_negative, are_same = a.shape == b.shape;
    struct known result = {.shape = a.shape == CONSTANT && b.shape == CONSTANT ? CONSTANT : OTHER,
                           .bound = if_exact(a.bound, b.bound),
                           .may_be_negative = is_negative};
    switch (op) {
    case NEGATE: return (struct known){a.shape, opposite(a.bound), true};
    case ABSOLUTE:
        result.bound = is_negative ? result.bound : a.bound;
        result.may_be_negative = false;
        break;
    case LOGARITHM: result.may_be_negative = true; break;
    case SQUARE_ROOT:
    case EXPONENTIAL:
        result.bound = a.bound;
        result.may_be_negative = false;
        break;
    case ADD:
    case SUBTRACT:
        result.shape = are_same ? a.shape : OTHER;
        result.bound = both(a.bound, op == ADD ? b.bound : opposite(b.bound));
        result.may_be_negative |= op == SUBTRACT;
        break;
    case LEAST_OF:
    case LARGEST_OF: result.bound = both(a.bound, b.bound); break;
    case MULTIPLY:
    case DIVIDE:
        if (b.shape == CONSTANT || (a.shape == CONSTANT && op == MULTIPLY))
            result.shape = b.shape == CONSTANT ? a.shape : b.shape;
        if (!is_negative)
            result.bound = both(a.bound, op == MULTIPLY ? b.bound : opposite(b.bound));
        break;
    default: break;
    }
    return result;
}

void formula_find_bounds(struct formula *formula, const struct metrics *metrics)
{
    struct known values[MOST_VALUES + 1], *top = values;
    *top = (struct known){0};
    for (size_t i = 0; i < formula->steps.n; i++) {
        const struct formula_step *step = &formula->steps.at[i];
        enum operation op = (enum operation)step->operation;
        unsigned n = operation_n_operands(op);
        top -= (int)n - 1;
        const struct metric *metric = op == METRIC ? &metrics->at[step->metric] : NULL;
        bool adds_up = metric && metric_is_additive(metric) && step->part == PART_OF_RESULT;
        if (metric)
            *top = (struct known){.shape = step->part == PART_OF_PROGRAM ? CONSTANT : adds_up ? ADDITIVE : OTHER,
                                  .bound = metric_is_lower_bound(metric) ? BOUND_LOWER : BOUND_EXACT};
        else if (n == 0)
            *top = (struct known){0};
        else if (n == 3)
            *top = (struct known){
                .shape = top[0].shape == CONSTANT && top[1].shape == top[2].shape ? top[1].shape : OTHER,
                .bound = if_exact(top[0].bound, if_exact(top[1].bound, top[2].bound)),
                .may_be_negative = top[1].may_be_negative || top[2].may_be_negative};
        else
            *top = of_operands(op, top[0], n == 2 ? top[1] : (struct known){0});
    }
    formula->is_additive = top->shape == ADDITIVE;
    formula->bound = top->bound;
}
