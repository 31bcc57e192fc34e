/* The contexts of a projection with the ids of the database: in depth-first order with siblings
 * sorted, and with the functions, files and modules that they refer to ranked. So ids depend only
 * on the measurements, not on the threads that built the tree.
 *
 * The descendants of context `id` are the contexts id + 1 to end[id] - 1. */
#ifndef HPCPROF_NUMBERED_CONTEXTS_H
#define HPCPROF_NUMBERED_CONTEXTS_H

#include "hpcprof/names/symbol-table.h"
#include "hpcprof/tree/context-tree.h"

/* The functions, files or modules that contexts refer to, in order. */
struct used_items {
    VEC(uint32_t) ids; /* by rank: index in the symbol table */
    uint32_t *rank_of; /* by index in the symbol table: rank; NO_SYMBOL: not used */
};

struct numbered_contexts {
    const struct symbol_table *symbols;
    struct used_items functions; /* sorted by name, file, line, module and entry */
    struct used_items files;     /* sorted by path */
    struct used_items modules;   /* sorted by path and build-id */
    size_t n;
    struct context *at; /* by id; parents are such ids, names are indices in the symbol table */
    uint32_t *end;      /* by id: one after the last descendant */
    uint32_t *depth;    /* by id: number of ancestors */
    uint32_t max_depth;
};

/* Numbers the contexts of a tree. Returns, by id in the tree, the new ids; the caller frees. */
uint32_t *contexts_number(struct numbered_contexts *contexts, const struct context_tree *tree,
                          const struct symbol_table *symbols, unsigned workers);

void contexts_free(struct numbered_contexts *contexts);

#endif
