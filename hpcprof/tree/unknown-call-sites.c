#include "hpcprof/tree/unknown-call-sites.h"

#include "lib/binary-search.h"
#include "lib/hash-tables.h"

#include <stdlib.h>

/* The known sites of calls: for each pair of functions, where in the code of the one the other is
 * called. A site is the chain of scopes (loops, inlined procedures, line) between the context of a
 * function and the context of a function that it calls. It does not depend on the function's
 * callers. */
struct known_sites {
    struct context_tree tree; /* below context 0 the functions, below these their sites */
    /* (caller, callee) -> site: a context of `tree`, or SITES_SEVERAL */
    struct idmap of_paths; /* sites in call paths */
    struct idmap of_code;  /* sites of direct calls in the code */
};

#define SITES_NONE    IDMAP_NONE
#define SITES_SEVERAL (IDMAP_NONE - 1)

/* ---- merging two sites ---- */

static const struct context *context_at(const struct known_sites *sites, uint32_t id)
{
    return &sites->tree.contexts.at[id];
}

static bool is_same(const struct context *a, const struct context *b)
{
    return a->kind == b->kind && a->name == b->name && a->detail == b->detail;
}

/* Whether two sites are the same line, in the same inlined procedures, and differ only in their
 * loops. */
static bool is_one_line(const struct known_sites *sites, uint32_t a, uint32_t b)
{
    if (context_at(sites, a)->kind != CONTEXT_LINE)
        return false;
    for (;;) {
        const struct context *x = context_at(sites, a), *y = context_at(sites, b);
        if (context_is_loop(x)) {
            a = x->parent;
        } else if (context_is_loop(y)) {
            b = y->parent;
        } else {
            if (!is_same(x, y))
                return false;
            if (x->kind == CONTEXT_CALL)
                return true;
            a = x->parent;
            b = y->parent;
        }
    }
}

static unsigned depth_of(const struct known_sites *sites, uint32_t site)
{
    unsigned depth = 0;
    for (; site != CONTEXT_ROOT; site = context_at(sites, site)->parent)
        depth++;
    return depth;
}

/* Orders sites of the same depth by content, since ids depend on the order in which the sites were
 * found. */
static int compare_scopes(const struct known_sites *sites, uint32_t a, uint32_t b)
{
    int order = 0;
    for (; order == 0 && a != b;) {
        const struct context *x = context_at(sites, a), *y = context_at(sites, b);
        order = compare_unsigned(x->kind, y->kind);
        if (order == 0)
            order = compare_unsigned(x->name, y->name);
        if (order == 0)
            order = compare_unsigned(x->detail, y->detail);
        a = x->parent;
        b = y->parent;
    }
    return order;
}

static uint32_t innermost(const struct known_sites *sites, uint32_t a, uint32_t b)
{
    unsigned of_a = depth_of(sites, a), of_b = depth_of(sites, b);
    if (of_a != of_b)
        return of_a > of_b ? a : b;
    return compare_scopes(sites, a, b) < 0 ? a : b;
}

static void add_site(struct known_sites *sites, struct idmap *calls, uint32_t caller,
                     uint32_t callee, uint32_t site)
{
    uint32_t known = idmap_get(calls, caller, callee);
    if (known == site || known == SITES_SEVERAL)
        return;
    if (known == SITES_NONE)
        known = site;
    else if (is_one_line(sites, known, site))
        known = innermost(sites, known, site);
    else
        known = SITES_SEVERAL;
    idmap_put(calls, caller, callee, known);
}

/* ---- known sites ---- */

/* The place in the code that a context stands for. */
struct code_place {
    uint32_t site;     /* context in known_sites.tree; SITES_NONE: in no function */
    uint32_t function; /* function that the code belongs to */
};

static struct code_place place_of(struct known_sites *sites, const struct context *context,
                                  struct code_place around)
{
    struct code_place place = {SITES_NONE, context->name};
    if (context->kind == CONTEXT_CALL) {
        place.site = context_tree_child(&sites->tree, CONTEXT_ROOT, CONTEXT_CALL, context->name, 0);
        return place;
    }
    if (around.site == SITES_NONE || context->kind == CONTEXT_NO_SITE)
        return place;
    around.site = context_tree_child(&sites->tree, around.site, context->kind, context->name,
                                     context->detail);
    return around;
}

static void add_sites(struct known_sites *sites, struct idmap *calls,
                      const struct context_tree *tree)
{
    size_t n = tree->contexts.n;
    autofree struct code_place *places = mem_alloc(n * sizeof *places);
    places[CONTEXT_ROOT].site = SITES_NONE;
    for (size_t i = 1; i < n; i++) {
        const struct context *context = &tree->contexts.at[i];
        const struct code_place around = places[context->parent];
        places[i] = place_of(sites, context, around);
        if (context->kind == CONTEXT_CALL && around.site != SITES_NONE)
            add_site(sites, calls, around.function, context->name, around.site);
    }
}

/* The site at which a function calls another one; SITES_NONE or SITES_SEVERAL. If the sites are one
 * line in different loops (the procedure was copied), it is one in a call path; of these, the one
 * in most loops. */
static uint32_t find_site(const struct known_sites *sites, uint32_t caller, uint32_t callee)
{
    uint32_t of_paths = idmap_get(&sites->of_paths, caller, callee);
    uint32_t of_code = idmap_get(&sites->of_code, caller, callee);
    if (of_paths == SITES_NONE || of_code == SITES_NONE || of_paths == of_code)
        return of_paths == SITES_NONE ? of_code : of_paths;
    bool is_one = of_paths != SITES_SEVERAL && of_code != SITES_SEVERAL &&
                  is_one_line(sites, of_paths, of_code);
    return is_one ? of_paths : SITES_SEVERAL;
}

/* ---- unknown sites ---- */

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
    uint32_t site = find_site(&r->sites, caller, call->name);
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
    context_tree_start(&r.sites.tree);
    add_sites(&r.sites, &r.sites.of_paths, tree);
    add_sites(&r.sites, &r.sites.of_code, code);
    uint32_t *new_ids = copy_all(&r);
    context_tree_free(&r.sites.tree);
    idmap_free(&r.sites.of_paths);
    idmap_free(&r.sites.of_code);
    vec_free(&r.chain);
    context_tree_free(tree);
    *tree = r.into;
    return new_ids;
}
