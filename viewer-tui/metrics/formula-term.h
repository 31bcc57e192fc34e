/* What is known of a part of a formula without computing it: its unit, and whether it can be
 * added up. */
#ifndef VIEWER_FORMULA_TERM_H
#define VIEWER_FORMULA_TERM_H

#include "viewer-tui/base/scope.h"

struct term {
    enum {
        LITERAL,  /* numbers only: it has whatever unit it needs to have */
        CONSTANT, /* the same in every row */
        ADDITIVE,
        OTHER
    } shape;
    char unit[UNIT_SIZE]; /* "" for none */
};

static const struct term term_other = {.shape = OTHER};

/* a + b, a - b; a * b; a / b. */
struct term term_sum(struct term a, struct term b);
struct term term_product(struct term a, struct term b);
struct term term_quotient(struct term a, struct term b);

/* One of the two, but who knows which. */
struct term term_choice(struct term a, struct term b);

/* What has no unit, and cannot be added up: powers, logarithms, truth. */
struct term term_pure(struct term a, struct term b);

#endif
