#include "viewer-tui/metrics/formula-bound.h"

#include "viewer-tui/metrics/formula-step.h"

/* A value on the stack. */
struct value {
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

/* What grows with both. */
static enum formula_bound both(enum formula_bound a, enum formula_bound b)
{
    if (a == BOUND_EXACT || a == b)
        return b;
    return b == BOUND_EXACT ? a : BOUND_NONE;
}

/* What depends on the values in no simple way. */
static enum formula_bound either(enum formula_bound a, enum formula_bound b)
{
    return a == BOUND_EXACT && b == BOUND_EXACT ? BOUND_EXACT : BOUND_NONE;
}

static struct value of_one(enum operation op, struct value a)
{
    switch (op) {
    case NEGATE: return (struct value){opposite(a.bound), true};
    case ABSOLUTE:
        return (struct value){a.may_be_negative ? either(a.bound, a.bound) : a.bound, false};
    case LOGARITHM: return (struct value){a.bound, true};
    default: return (struct value){a.bound, false};
    }
}

static struct value of_two(enum operation op, struct value a, struct value b)
{
    bool may_be_negative = a.may_be_negative || b.may_be_negative;
    switch (op) {
    case ADD:
    case LEAST_OF:
    case LARGEST_OF: return (struct value){both(a.bound, b.bound), may_be_negative};
    case SUBTRACT: return (struct value){both(a.bound, opposite(b.bound)), true};
    case MULTIPLY:
        return (struct value){may_be_negative ? either(a.bound, b.bound) : both(a.bound, b.bound),
                              may_be_negative};
    case DIVIDE:
        return (struct value){may_be_negative ? either(a.bound, b.bound)
                                              : both(a.bound, opposite(b.bound)),
                              may_be_negative};
    default: return (struct value){either(a.bound, b.bound), may_be_negative};
    }
}

/* Takes the operator's values off the stack, of which `top` is the last; the new last one. */
static struct value *compute(enum operation op, struct value *top)
{
    switch (op) {
    case NEGATE:
    case ABSOLUTE:
    case SQUARE_ROOT:
    case EXPONENTIAL:
    case LOGARITHM: *top = of_one(op, *top); break;
    case CHOICE:
        top -= 2;
        top[0].bound = either(top[0].bound, either(top[1].bound, top[2].bound));
        top[0].may_be_negative = top[1].may_be_negative || top[2].may_be_negative;
        break;
    default: top--; top[0] = of_two(op, top[0], top[1]);
    }
    return top;
}

enum formula_bound formula_bound_of(const struct formula *formula, const bool *is_bound)
{
    struct value values[MOST_VALUES + 1] = {{BOUND_EXACT, false}}, *top = values;
    for (size_t i = 0; i < formula->steps.n; i++) {
        const struct formula_step *step = &formula->steps.at[i];
        if (step->operation == NUMBER) {
            *++top = (struct value){BOUND_EXACT, step->number < 0};
        } else if (step->operation == METRIC) {
            bool is_spread = step->statistic == THREAD_DEVIATION;
            enum formula_bound bound = is_spread ? BOUND_NONE : BOUND_LOWER;
            *++top = (struct value){is_bound[step->metric] ? bound : BOUND_EXACT, false};
        } else {
            top = compute((enum operation)step->operation, top);
        }
    }
    return top->bound;
}
