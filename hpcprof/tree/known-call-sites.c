#include "hpcprof/tree/known-call-sites.h"

#include <stdbool.h>
#include <stdlib.h>

void known_sites_start(struct known_sites *sites)
{
    *sites = (struct known_sites){0};
    context_tree_start(&sites->tree);
}

void known_sites_free(struct known_sites *sites)
{
    context_tree_free(&sites->tree);
    idmap_free(&sites->of_paths);
    idmap_free(&sites->of_code);
}

/* ---- merging two sites ---- */

static const struct context *context_at(const struct known_sites *sites, uint32_t id)
{
    return &sites->tree.contexts.at[id];
}

static bool is_loop(const struct context *context)
{
    return context->kind == CONTEXT_LOOP || context->kind == CONTEXT_LOOP_AT;
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
        if (is_loop(x)) {
            a = x->parent;
        } else if (is_loop(y)) {
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

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders sites of the same depth by content, since ids depend on the order in which the sites were
 * found. */
static int compare_scopes(const struct known_sites *sites, uint32_t a, uint32_t b)
{
    int order = 0;
    for (; order == 0 && a != b;) {
        const struct context *x = context_at(sites, a), *y = context_at(sites, b);
        order = compare(x->kind, y->kind);
        if (order == 0)
            order = compare(x->name, y->name);
        if (order == 0)
            order = compare(x->detail, y->detail);
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

/* ---- trees ---- */

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

static void add_tree(struct known_sites *sites, struct idmap *calls,
                     const struct context_tree *tree)
{
    size_t n = tree->contexts.n;
    struct code_place *places = mem_alloc(n * sizeof *places);
    places[CONTEXT_ROOT].site = SITES_NONE;
    for (size_t i = 1; i < n; i++) {
        const struct context *context = &tree->contexts.at[i];
        const struct code_place around = places[context->parent];
        places[i] = place_of(sites, context, around);
        if (context->kind == CONTEXT_CALL && around.site != SITES_NONE)
            add_site(sites, calls, around.function, context->name, around.site);
    }
    free(places);
}

void known_sites_add_paths(struct known_sites *sites, const struct context_tree *tree)
{
    add_tree(sites, &sites->of_paths, tree);
}

void known_sites_add_code(struct known_sites *sites, const struct context_tree *tree)
{
    add_tree(sites, &sites->of_code, tree);
}

uint32_t known_sites_find(const struct known_sites *sites, uint32_t caller, uint32_t callee)
{
    uint32_t of_paths = idmap_get(&sites->of_paths, caller, callee);
    uint32_t of_code = idmap_get(&sites->of_code, caller, callee);
    if (of_paths == SITES_NONE || of_code == SITES_NONE || of_paths == of_code)
        return of_paths == SITES_NONE ? of_code : of_paths;
    bool is_one = of_paths != SITES_SEVERAL && of_code != SITES_SEVERAL &&
                  is_one_line(sites, of_paths, of_code);
    return is_one ? of_paths : SITES_SEVERAL;
}
