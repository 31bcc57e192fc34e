/* A tree of source-level calling contexts, built while call paths are added.
 *
 * Siblings differ in kind, name or detail. Ids are given in the order of first appearance, so a
 * parent's id is smaller than its children's. */
#ifndef HPCPROF_CONTEXT_TREE_H
#define HPCPROF_CONTEXT_TREE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum context_kind {
    CONTEXT_GLOBAL,  /* context 0, the root of all others */
    CONTEXT_ENTRY,   /* name: enum v4_entry_kind; detail: executables_entry() */
    CONTEXT_CALL,    /* a called function; name: function */
    CONTEXT_INLINED, /* an inlined function; name: function */
    CONTEXT_LOOP,    /* name: file; detail: line of the header */
    CONTEXT_LOOP_AT, /* a loop of unknown line; name: module; detail: address of the header */
    CONTEXT_LINE,    /* name: file; detail: line */
    CONTEXT_NO_SITE, /* parent of what a function called from an unknown site; see
                        unknown-call-sites.h */
};

struct context {
    uint32_t parent;
    uint32_t name;   /* see the kind */
    uint64_t detail; /* see the kind; 0 for the others */
    enum context_kind kind;
};

#define CONTEXT_ROOT 0

static inline bool context_is_function(const struct context *context)
{
    return context->kind == CONTEXT_CALL || context->kind == CONTEXT_INLINED;
}

static inline bool context_is_loop(const struct context *context)
{
    return context->kind == CONTEXT_LOOP || context->kind == CONTEXT_LOOP_AT;
}

struct context_tree {
    VEC(struct context) contexts;
    struct context_slot *slots; /* open addressing */
    size_t slot_count, slots_used;
    bool has_more; /* some contexts have no slot: context_tree_child gives them one first */
};

void context_tree_start(struct context_tree *tree);
void context_tree_free(struct context_tree *tree);

/* Gives back the memory that only the search for contexts needs, until one is searched again. */
void context_tree_pack(struct context_tree *tree);

/* Returns the child of `parent` with this kind, name and detail; adds it if it is new. */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, enum context_kind kind,
                            uint32_t name, uint64_t detail);

/* Adds all contexts of `from`. Returns, by id in `from`, the ids in `into`; the caller frees. Below a
 * context that was new, all are: they are added without a search. */
uint32_t *context_tree_merge(struct context_tree *into, const struct context_tree *from);

/* Removes the contexts that are not used and have no used descendant. `is_used`, by id, is
 * overwritten. Returns the new ids of the others, by old id; the caller frees. */
uint32_t *context_tree_prune(struct context_tree *tree, bool *is_used);

#endif
