#include "hpcprof/tree/recursive-calls.h"

#include <stdlib.h>
#include <string.h>

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

/* Adds the contexts to a new tree. Returns the ids there, by old id; the caller frees. */
static uint32_t *add_collapsed(struct context_tree *into, const struct context *contexts, size_t n,
                               const bool *is_placeholder)
{
    uint32_t *new_ids = mem_alloc(n * sizeof *new_ids);
    context_tree_start(into);
    new_ids[CONTEXT_ROOT] = CONTEXT_ROOT;
    for (size_t i = 1; i < n; i++) {
        const struct context *context = &contexts[i];
        uint32_t parent = new_ids[context->parent], outer = CONTEXT_ROOT;
        if (context_is_function(context) && !is_placeholder[context->name])
            outer = call_on_path(into, parent, context->name);
        new_ids[i] = outer != CONTEXT_ROOT ? outer
                                           : context_tree_child(into, parent, context->kind,
                                                                context->name, context->detail);
    }
    return new_ids;
}

uint32_t *collapse_recursion(struct context_tree *tree, const bool *is_placeholder,
                             struct context_ids *unresolved)
{
    struct context_tree into;
    uint32_t *new_ids = add_collapsed(&into, tree->contexts.at, tree->contexts.n, is_placeholder);
    renumber_unresolved(unresolved, tree, &into, new_ids);
    context_tree_free(tree);
    *tree = into;
    return new_ids;
}

bool *placeholder_functions(const struct symbol_table *symbols)
{
    bool *is_placeholder = mem_alloc(symbols->functions.n * sizeof *is_placeholder);
    for (size_t i = 0; i < symbols->functions.n; i++)
        is_placeholder[i] = function_is_placeholder(&symbols->functions.at[i]);
    return is_placeholder;
}

/* The number of contexts outside of recursive calls: all of them stay. */
static size_t count_outside_recursion(const struct numbered_contexts *contexts,
                                      const bool *is_placeholder)
{
    size_t functions = contexts->symbols->functions.n, count = 0;
    autofree uint32_t *end = mem_alloc(functions * sizeof *end); /* by function: that of its latest call */
    memset(end, 0, functions * sizeof *end);
    for (uint32_t id = 0, next; id < contexts->n; id = next) {
        const struct context *context = &contexts->at[id];
        bool is_call = context_is_function(context) && !is_placeholder[context->name];
        bool is_recursive = is_call && id < end[context->name];
        next = is_recursive ? contexts->end[id] : id + 1;
        count += !is_recursive;
        if (is_call && !is_recursive)
            end[context->name] = contexts->end[id];
    }
    return count;
}

size_t count_without_recursion(const struct numbered_contexts *contexts, size_t enough)
{
    autofree bool *is_placeholder = placeholder_functions(contexts->symbols);
    size_t n = count_outside_recursion(contexts, is_placeholder);
    if (n < enough) {
        struct context_tree into;
        free(add_collapsed(&into, contexts->at, contexts->n, is_placeholder));
        n = into.contexts.n;
        context_tree_free(&into);
    }
    return n;
}
