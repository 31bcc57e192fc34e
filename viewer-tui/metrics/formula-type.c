#include "viewer-tui/metrics/formula-type.h"

#include <assert.h>
#include <string.h>

/* ---- units and shapes ---- */

static bool are_constant(const struct formula_type *a, const struct formula_type *b)
{
    return a->shape <= CONSTANT && b->shape <= CONSTANT;
}

/* The unit of two values that are added or compared, or one of which is chosen. */
static void merge_units(struct formula_type *a, const struct formula_type *b)
{
    if (a->shape == LITERAL)
        memcpy(a->unit, b->unit, sizeof a->unit);
    else if (b->shape != LITERAL && strcmp(a->unit, b->unit) != 0)
        a->unit[0] = '\0';
}

/* Of a value that is the same in every row if both are; else of `shape`. */
static void merge_shapes(struct formula_type *a, const struct formula_type *b, int shape)
{
    int larger = a->shape > b->shape ? a->shape : b->shape;
    a->shape = are_constant(a, b) ? larger : shape;
}

/* One of the two, unknown which. */
static struct formula_type either_of(struct formula_type a, const struct formula_type *b)
{
    merge_units(&a, b);
    merge_shapes(&a, b, OTHER);
    return a;
}

static struct formula_type sum_of(struct formula_type a, const struct formula_type *b)
{
    bool is_additive = a.shape == ADDITIVE && b->shape == ADDITIVE;
    merge_units(&a, b);
    merge_shapes(&a, b, is_additive ? ADDITIVE : OTHER);
    return a;
}

static struct formula_type product_of(struct formula_type a, const struct formula_type *b)
{
    if (a.unit[0] && b->unit[0])
        a.unit[0] = '\0';
    else if (b->unit[0])
        memcpy(a.unit, b->unit, sizeof a.unit);
    if (a.shape > CONSTANT && b->shape > CONSTANT)
        a.shape = OTHER;
    else
        a.shape = a.shape > b->shape ? a.shape : b->shape;
    return a;
}

static struct formula_type quotient_of(struct formula_type a, const struct formula_type *b)
{
    if (b->unit[0])
        a.unit[0] = '\0';
    if (b->shape > CONSTANT)
        a.shape = OTHER;
    else if (a.shape < b->shape)
        a.shape = b->shape;
    return a;
}

/* Without a unit, and not additive: powers, logarithms, truth. */
static struct formula_type pure(struct formula_type a, const struct formula_type *b)
{
    a.unit[0] = '\0';
    merge_shapes(&a, b, OTHER);
    return a;
}

/* One of b and c, by the condition. */
static struct formula_type choice_of(const struct formula_type *condition,
                                     const struct formula_type *b, const struct formula_type *c)
{
    struct formula_type result = either_of(*b, c);
    if (condition->shape > CONSTANT)
        result.shape = OTHER;
    else if (b->shape == ADDITIVE && c->shape == ADDITIVE)
        result.shape = ADDITIVE;
    return result;
}

/* ---- bounds ---- */

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

static void set_bound(struct formula_type *result, enum operation op, const struct formula_type *of)
{
    enum formula_bound a = of[0].bound;
    enum formula_bound b = operation_n_operands(op) > 1 ? of[1].bound : BOUND_EXACT;
    bool is_negative =
        of[0].may_be_negative || (operation_n_operands(op) > 1 && of[1].may_be_negative);
    switch (op) {
    case NEGATE:
        a = opposite(a);
        is_negative = true;
        break;
    case ABSOLUTE:
        a = is_negative ? if_exact(a, a) : a;
        is_negative = false;
        break;
    case LOGARITHM: is_negative = true; break;
    case SQUARE_ROOT:
    case EXPONENTIAL: is_negative = false; break;
    case ADD:
    case LEAST_OF:
    case LARGEST_OF: a = both(a, b); break;
    case SUBTRACT:
        a = both(a, opposite(b));
        is_negative = true;
        break;
    case MULTIPLY: a = is_negative ? if_exact(a, b) : both(a, b); break;
    case DIVIDE: a = is_negative ? if_exact(a, b) : both(a, opposite(b)); break;
    case CHOICE:
        a = if_exact(a, if_exact(b, of[2].bound));
        is_negative = of[1].may_be_negative || of[2].may_be_negative;
        break;
    default: a = if_exact(a, b); break;
    }
    result->bound = a;
    result->may_be_negative = is_negative;
}

struct formula_type type_of_operation(enum operation op, const struct formula_type *operands)
{
    assert(op >= NEGATE);
    struct formula_type result = operands[0];
    switch (op) {
    case NEGATE: break;
    case ABSOLUTE: result = either_of(result, &operands[0]); break;
    case ADD:
    case SUBTRACT: result = sum_of(result, &operands[1]); break;
    case MULTIPLY: result = product_of(result, &operands[1]); break;
    case DIVIDE: result = quotient_of(result, &operands[1]); break;
    case LEAST_OF:
    case LARGEST_OF: result = either_of(result, &operands[1]); break;
    case CHOICE: result = choice_of(&operands[0], &operands[1], &operands[2]); break;
    default: result = pure(result, &operands[operation_n_operands(op) - 1]); break;
    }
    set_bound(&result, op, operands);
    return result;
}
