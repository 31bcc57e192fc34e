/* The value refs (value-refs.h) of many scopes: collected in any order, then found by scope. */
#ifndef VIEWER_SCOPE_VALUE_REFS_H
#define VIEWER_SCOPE_VALUE_REFS_H

#include "viewer-tui/threads/value-refs.h"

/* A value of which one part of a scope's cost is the sum. */
struct scope_value_ref {
    uint32_t scope_and_part; /* 2 * the scope + the part */
    struct value_ref ref;
};

/* A zeroed one is empty. */
struct scope_value_refs {
    VEC(struct scope_value_ref) collected; /* until they are sorted */
    struct value_ref *at;                  /* those of a scope and part together, */
    uint32_t *first;                       /* from first[scope_and_part] on; NULL: not sorted yet */
};

static inline void scope_value_refs_add(struct scope_value_refs *refs, uint32_t scope,
                                        enum cost_part part, struct value_ref ref)
{
    vec_push(&refs->collected, (struct scope_value_ref){2 * scope + (uint32_t)part, ref});
}

/* To be called once, when all are collected, of scopes 0 .. n_scopes - 1. */
void scope_value_refs_sort(struct scope_value_refs *refs, uint32_t n_scopes);

/* Adds those of one scope. */
void scope_value_refs_get(const struct scope_value_refs *refs, uint32_t scope, enum cost_part part,
                          struct value_refs *out);

/* Leaves it empty. */
void scope_value_refs_free(struct scope_value_refs *refs);

#endif
