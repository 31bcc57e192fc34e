#include "hpcprof/tree/unknown-call-sites.h"

#include "hpcprof/tree/known-call-sites.h"

#include <stdlib.h>

struct resolver {
    const struct context_tree *from;
    struct context_tree into;
    struct known_sites sites;
    VEC(uint32_t) chain; /* scratch: contexts of a site, innermost first */
    struct context_ids *unresolved;
};

static uint32_t copy_below(struct resolver *r, uint32_t parent, const struct context *context)
{
    return context_tree_child(&r->into, parent, context->kind, context->name, context->detail);
}

/* Returns the context of a site below `frame`, a context of the site's function. */
static uint32_t site_below(struct resolver *r, uint32_t frame, uint32_t site)
{
    const struct context *contexts = r->sites.tree.contexts.at;
    r->chain.n = 0;
    for (; contexts[site].kind != CONTEXT_CALL; site = contexts[site].parent)
        vec_push(&r->chain, site);
    while (r->chain.n)
        frame = copy_below(r, frame, &contexts[r->chain.at[--r->chain.n]]);
    return frame;
}

/* Returns the context of a call from an unknown site of `frame`. */
static uint32_t resolve_call(struct resolver *r, uint32_t frame, const struct context *call)
{
    uint32_t caller = r->into.contexts.at[frame].name;
    uint32_t site = known_sites_find(&r->sites, caller, call->name);
    if (site != SITES_NONE && site != SITES_SEVERAL)
        return copy_below(r, site_below(r, frame, site), call);
    uint32_t id = copy_below(r, frame, call);
    vec_push(r->unresolved, id);
    return id;
}

/* Copies parents before their children. */
static uint32_t *copy_all(struct resolver *r)
{
    uint32_t *new_ids = mem_alloc(r->from->contexts.n * sizeof *new_ids);
    new_ids[CONTEXT_ROOT] = CONTEXT_ROOT;
    for (size_t i = 1; i < r->from->contexts.n; i++) {
        const struct context *context = &r->from->contexts.at[i];
        uint32_t parent = new_ids[context->parent];
        if (context->kind == CONTEXT_NO_SITE)
            new_ids[i] = parent;
        else if (r->from->contexts.at[context->parent].kind == CONTEXT_NO_SITE)
            new_ids[i] = resolve_call(r, parent, context);
        else
            new_ids[i] = copy_below(r, parent, context);
    }
    return new_ids;
}

bool has_unknown_call_sites(const struct context_tree *tree)
{
    for (size_t i = 0; i < tree->contexts.n; i++)
        if (tree->contexts.at[i].kind == CONTEXT_NO_SITE)
            return true;
    return false;
}

uint32_t *resolve_call_sites(struct context_tree *tree, const struct context_tree *code,
                             struct context_ids *unresolved)
{
    struct resolver r = {.from = tree, .unresolved = unresolved};
    context_tree_start(&r.into);
    known_sites_start(&r.sites);
    known_sites_add_paths(&r.sites, tree);
    known_sites_add_code(&r.sites, code);
    uint32_t *new_ids = copy_all(&r);
    known_sites_free(&r.sites);
    vec_free(&r.chain);
    context_tree_free(tree);
    *tree = r.into;
    return new_ids;
}
