#include "viewer-tui/tree/scope-value-refs.h"

#include <stdlib.h>

void scope_value_refs_sort(struct scope_value_refs *refs, uint32_t n_scopes)
{
    size_t n = refs->collected.n, n_keys = 2 * (size_t)n_scopes;
    uint32_t *next = mem_alloc((n_keys + 1) * sizeof *next); /* counts, then places */
    refs->first = mem_alloc((n_keys + 1) * sizeof *refs->first);
    refs->at = mem_alloc((n + 1) * sizeof *refs->at);
    for (size_t i = 0; i < n; i++)
        next[refs->collected.at[i].scope_and_part]++;
    for (size_t key = 0; key < n_keys; key++) {
        refs->first[key + 1] = refs->first[key] + next[key];
        next[key] = refs->first[key];
    }
    for (size_t i = 0; i < n; i++) {
        const struct scope_value_ref *from = &refs->collected.at[i];
        refs->at[next[from->scope_and_part]++] = from->ref;
    }
    vec_free(&refs->collected);
    free(next);
}

void scope_value_refs_get(const struct scope_value_refs *refs, uint32_t scope, enum cost_part part,
                          struct value_refs *out)
{
    size_t key = 2 * (size_t)scope + (size_t)part;
    for (uint32_t i = refs->first[key]; i < refs->first[key + 1]; i++)
        vec_push(&out->list, refs->at[i]);
}

void scope_value_refs_free(struct scope_value_refs *refs)
{
    vec_free(&refs->collected);
    free(refs->at);
    free(refs->first);
    *refs = (struct scope_value_refs){0};
}
