/* The contexts of a projection as the database has them: in depth-first order, siblings sorted,
 * with the functions, files and modules that they name numbered in the order of the database.
 *
 * So ids depend only on what was measured. A context's descendants are the ids from its own + 1 to
 * before its end. */
#ifndef HPCPROF_NUMBERED_CONTEXTS_H
#define HPCPROF_NUMBERED_CONTEXTS_H

#include "hpcprof/tree/context-tree.h"
#include "hpcprof/names/symbol-table.h"

/* Those of a program's functions, files or modules that the contexts name, in order. */
struct used_items {
    VEC(uint32_t) ids; /* by rank: index in the program's table */
    uint32_t *rank_of; /* by index in the program's table; PROGRAM_NONE: not used */
};

struct contexts {
    const struct program *program;
    struct used_items functions; /* by name, file, line, module and entry */
    struct used_items files;     /* by path */
    struct used_items modules;   /* by path and build-id */
    size_t n;
    struct context *at; /* by new id; parents are new ids, names are those of the program */
    uint32_t *end;      /* by new id: one after the last descendant */
    uint32_t *depth;    /* by new id: number of ancestors */
    uint32_t max_depth;
};

/* Numbers the contexts of a tree; returns the new ids of its contexts, to be freed by the
 * caller. */
uint32_t *contexts_number(struct contexts *contexts, const struct context_tree *tree,
                          const struct program *program);

void contexts_free(struct contexts *contexts);

#endif
