#include "viewer-tui/tree/scope-terms.h"

#include <stdlib.h>

void scope_terms_sort(struct scope_terms *terms, uint32_t n_scopes)
{
    size_t n = terms->collected.n, n_keys = 2 * (size_t)n_scopes;
    uint32_t *next = mem_alloc((n_keys + 1) * sizeof *next); /* counts, then places */
    terms->first = mem_alloc((n_keys + 1) * sizeof *terms->first);
    terms->at = mem_alloc((n + 1) * sizeof *terms->at);
    for (size_t i = 0; i < n; i++)
        next[terms->collected.at[i].scope_and_part]++;
    for (size_t key = 0; key < n_keys; key++) {
        terms->first[key + 1] = terms->first[key] + next[key];
        next[key] = terms->first[key];
    }
    for (size_t i = 0; i < n; i++) {
        const struct scope_term *from = &terms->collected.at[i];
        terms->at[next[from->scope_and_part]++] = from->term;
    }
    vec_free(&terms->collected);
    free(next);
}

void scope_terms_get(const struct scope_terms *terms, uint32_t scope, enum cost_part part,
                     struct terms *out)
{
    size_t key = 2 * (size_t)scope + (size_t)part;
    for (uint32_t i = terms->first[key]; i < terms->first[key + 1]; i++)
        vec_push(&out->list, terms->at[i]);
}

void scope_terms_free(struct scope_terms *terms)
{
    vec_free(&terms->collected);
    free(terms->at);
    free(terms->first);
    *terms = (struct scope_terms){0};
}
