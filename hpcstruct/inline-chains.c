#include "hpcstruct/inline-chains.h"

#include <stdlib.h>

void chains_reset(struct chains *chains, const struct debug_info *info)
{
    chains->info = info;
    chains->all.n = 0;
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
    vec_push(&chains->all, (struct chain){.parent = EMPTY_CHAIN});
}

void chains_free(struct chains *chains)
{
    vec_free(&chains->all);
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
}

static uint32_t add(struct chains *chains, uint32_t parent, const struct debug_scope *scope)
{
    uint64_t parent_and_function = (uint64_t)parent << 32 | scope->function;
    uint64_t call_site = (uint64_t)scope->call_file << 32 | scope->call_line;
    uint32_t known = idmap_get(&chains->ids, parent_and_function, call_site);
    if (known != IDMAP_NONE)
        return known;
    const struct chain new = {
        .parent = parent,
        .depth = chains->all.at[parent].depth + 1,
        .function = scope->function,
        .call_file = scope->call_file,
        .call_line = scope->call_line,
    };
    idmap_put(&chains->ids, parent_and_function, call_site, (uint32_t)chains->all.n);
    vec_push(&chains->all, new);
    return (uint32_t)chains->all.n - 1;
}

uint32_t chains_of_scope(struct chains *chains, uint32_t scope)
{
    if (scope == DEBUG_NONE)
        return EMPTY_CHAIN;
    const struct debug_scope *of = &chains->info->scopes.at[scope];
    if (of->parent == DEBUG_NONE)
        return EMPTY_CHAIN;
    uint32_t known = idmap_get(&chains->of_scope, scope, 0);
    if (known == IDMAP_NONE) {
        known = add(chains, chains_of_scope(chains, of->parent), of);
        idmap_put(&chains->of_scope, scope, 0, known);
    }
    return known;
}

uint32_t chains_common(const struct chains *chains, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = chains->all.at[a].parent;
        else
            b = chains->all.at[b].parent;
    }
    return a;
}

uint32_t chains_prefix(const struct chains *chains, uint32_t chain, uint32_t depth)
{
    while (chains->all.at[chain].depth > depth)
        chain = chains->all.at[chain].parent;
    return chain;
}
