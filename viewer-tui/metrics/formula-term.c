#include "viewer-tui/metrics/formula-term.h"

#include <stdbool.h>
#include <string.h>

/* Of two values that are added, compared, or one of which is chosen. */
static void merge_units(struct term *a, const struct term *b)
{
    if (a->shape == LITERAL)
        memcpy(a->unit, b->unit, sizeof a->unit);
    else if (b->shape != LITERAL && strcmp(a->unit, b->unit) != 0)
        a->unit[0] = '\0';
}

struct term term_sum(struct term a, struct term b)
{
    merge_units(&a, &b);
    bool is_constant = a.shape <= CONSTANT && b.shape <= CONSTANT;
    if (is_constant)
        a.shape = a.shape > b.shape ? a.shape : b.shape;
    else
        a.shape = a.shape == ADDITIVE && b.shape == ADDITIVE ? ADDITIVE : OTHER;
    return a;
}

struct term term_choice(struct term a, struct term b)
{
    merge_units(&a, &b);
    bool is_constant = a.shape <= CONSTANT && b.shape <= CONSTANT;
    a.shape = !is_constant ? OTHER : a.shape > b.shape ? a.shape : b.shape;
    return a;
}

struct term term_product(struct term a, struct term b)
{
    if (a.unit[0] && b.unit[0])
        a.unit[0] = '\0';
    else if (b.unit[0])
        memcpy(a.unit, b.unit, sizeof a.unit);
    if (a.shape > CONSTANT && b.shape > CONSTANT)
        a.shape = OTHER;
    else
        a.shape = a.shape > b.shape ? a.shape : b.shape;
    return a;
}

struct term term_quotient(struct term a, struct term b)
{
    if (b.unit[0])
        a.unit[0] = '\0';
    if (b.shape > CONSTANT)
        a.shape = OTHER;
    else if (a.shape < b.shape)
        a.shape = b.shape;
    return a;
}

struct term term_pure(struct term a, struct term b)
{
    struct term result = {.shape = OTHER};
    if (a.shape <= CONSTANT && b.shape <= CONSTANT)
        result.shape = a.shape > b.shape ? a.shape : b.shape;
    return result;
}
