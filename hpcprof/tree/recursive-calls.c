#include "hpcprof/tree/recursive-calls.h"

#include <stdlib.h>

/* The context of a function at or above `context`; CONTEXT_ROOT if there is none. */
static uint32_t call_on_path(const struct context_tree *tree, uint32_t context, uint32_t function)
{
    const struct context *all = tree->contexts.at;
    while (context != CONTEXT_ROOT &&
           !(context_is_function(&all[context]) && all[context].name == function))
        context = all[context].parent;
    return context;
}

/* Drops recursive calls: their new context is not a child of their parent's. */
static void renumber_unresolved(struct context_ids *unresolved, const struct context_tree *from,
                                const struct context_tree *into, const uint32_t *new_ids)
{
    size_t n = 0;
    for (size_t i = 0; i < unresolved->n; i++) {
        uint32_t old = unresolved->at[i], id = new_ids[old];
        if (into->contexts.at[id].parent == new_ids[from->contexts.at[old].parent])
            unresolved->at[n++] = id;
    }
    unresolved->n = n;
}

uint32_t *collapse_recursion(struct context_tree *tree, const bool *is_placeholder,
                             struct context_ids *unresolved)
{
    struct context_tree into;
    uint32_t *new_ids = mem_alloc(tree->contexts.n * sizeof *new_ids);
    context_tree_start(&into);
    new_ids[CONTEXT_ROOT] = CONTEXT_ROOT;
    for (size_t i = 1; i < tree->contexts.n; i++) {
        const struct context *context = &tree->contexts.at[i];
        uint32_t parent = new_ids[context->parent], outer = CONTEXT_ROOT;
        if (context_is_function(context) && !is_placeholder[context->name])
            outer = call_on_path(&into, parent, context->name);
        new_ids[i] = outer != CONTEXT_ROOT ? outer
                                           : context_tree_child(&into, parent, context->kind,
                                                                context->name, context->detail);
    }
    renumber_unresolved(unresolved, tree, &into, new_ids);
    context_tree_free(tree);
    *tree = into;
    return new_ids;
}
