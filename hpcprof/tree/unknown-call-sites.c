#include "hpcprof/tree/unknown-call-sites.h"

#include "hpcprof/tree/known-call-sites.h"

#include <stdlib.h>

struct joining {
    const struct context_tree *from;
    struct context_tree into;
    struct known_sites sites;
    VEC(uint32_t) chain; /* scratch: scopes from the inside out */
    struct context_ids *unknown;
};

static uint32_t copy_below(struct joining *j, uint32_t parent, const struct context *context)
{
    return context_tree_child(&j->into, parent, context->kind, context->name, context->detail);
}

/* The context below `frame`, a context of the site's function, that a site is. */
static uint32_t site_below(struct joining *j, uint32_t frame, uint32_t site)
{
    const struct context *contexts = j->sites.tree.contexts.at;
    j->chain.n = 0;
    for (; contexts[site].kind != CONTEXT_CALL; site = contexts[site].parent)
        vec_push(&j->chain, site);
    while (j->chain.n)
        frame = copy_below(j, frame, &contexts[j->chain.at[--j->chain.n]]);
    return frame;
}

/* The context of a call from an unknown site of a function's context. */
static uint32_t unsited_call(struct joining *j, uint32_t frame, const struct context *call)
{
    uint32_t caller = j->into.contexts.at[frame].name;
    uint32_t site = known_sites_find(&j->sites, caller, call->name);
    if (site != SITES_NONE && site != SITES_SEVERAL)
        return copy_below(j, site_below(j, frame, site), call);
    uint32_t id = copy_below(j, frame, call);
    vec_push(j->unknown, id);
    return id;
}

/* Parents come before their children. */
static uint32_t *copy_all(struct joining *j)
{
    uint32_t *new_ids = mem_alloc(j->from->contexts.n * sizeof *new_ids);
    new_ids[CONTEXT_ROOT] = CONTEXT_ROOT;
    for (size_t i = 1; i < j->from->contexts.n; i++) {
        const struct context *context = &j->from->contexts.at[i];
        uint32_t parent = new_ids[context->parent];
        if (context->kind == CONTEXT_NO_SITE)
            new_ids[i] = parent;
        else if (j->from->contexts.at[context->parent].kind == CONTEXT_NO_SITE)
            new_ids[i] = unsited_call(j, parent, context);
        else
            new_ids[i] = copy_below(j, parent, context);
    }
    return new_ids;
}

bool call_sites_lack(const struct context_tree *tree)
{
    for (size_t i = 0; i < tree->contexts.n; i++)
        if (tree->contexts.at[i].kind == CONTEXT_NO_SITE)
            return true;
    return false;
}

uint32_t *call_sites_join(struct context_tree *tree, const struct context_tree *code,
                          struct context_ids *unknown)
{
    struct joining j = {.from = tree, .unknown = unknown};
    context_tree_start(&j.into);
    known_sites_start(&j.sites);
    known_sites_add_paths(&j.sites, tree);
    known_sites_add_code(&j.sites, code);
    uint32_t *new_ids = copy_all(&j);
    known_sites_free(&j.sites);
    vec_free(&j.chain);
    context_tree_free(tree);
    *tree = j.into;
    return new_ids;
}
