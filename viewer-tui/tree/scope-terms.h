/* The terms (terms.h) of many scopes: collected in any order, then found by scope. */
#ifndef VIEWER_SCOPE_TERMS_H
#define VIEWER_SCOPE_TERMS_H

#include "viewer-tui/threads/terms.h"

/* A term of one part of a scope's costs. */
struct scope_term {
    uint32_t scope_and_part; /* 2 * the scope + the part */
    struct term term;
};

/* A zeroed one is empty. */
struct scope_terms {
    VEC(struct scope_term) collected; /* until they are sorted */
    struct term *at;                  /* those of a scope and part together, */
    uint32_t *first;                  /* from first[scope_and_part] on; NULL: not sorted yet */
};

static inline void scope_terms_add(struct scope_terms *terms, uint32_t scope, enum cost_part part,
                                   struct term term)
{
    vec_push(&terms->collected, (struct scope_term){2 * scope + (uint32_t)part, term});
}

/* To be called once, when all are collected, of scopes 0 .. n_scopes - 1. */
void scope_terms_sort(struct scope_terms *terms, uint32_t n_scopes);

/* Adds those of one scope. */
void scope_terms_get(const struct scope_terms *terms, uint32_t scope, enum cost_part part,
                     struct terms *out);

/* Leaves it empty. */
void scope_terms_free(struct scope_terms *terms);

#endif
