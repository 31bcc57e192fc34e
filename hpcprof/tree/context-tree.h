/* A tree of source-level calling contexts that grows while call paths are added.
 *
 * A context is told from its siblings by its kind and what it names; ids are given in order of
 * first appearance, so a parent's is smaller than its children's. */
#ifndef HPCPROF_CONTEXT_TREE_H
#define HPCPROF_CONTEXT_TREE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum context_kind {
    CONTEXT_GLOBAL,  /* context 0, above all others */
    CONTEXT_ENTRY,   /* name: enum v4_entry_kind; detail: executables_entry */
    CONTEXT_CALL,    /* a called function; name: function */
    CONTEXT_INLINED, /* an inlined function; name: function */
    CONTEXT_LOOP,    /* name: file; detail: line of the header */
    CONTEXT_LOOP_AT, /* a loop of unknown line; name: module; detail: address of the header */
    CONTEXT_LINE,    /* name: file; detail: line */
    CONTEXT_NO_SITE, /* what a function called from a site that is not known; see unknown-call-sites.h */
};

struct context {
    uint32_t parent;
    uint32_t name;   /* see the kind */
    uint64_t detail; /* see the kind; 0 where it says nothing */
    enum context_kind kind;
};

#define CONTEXT_ROOT 0

struct context_tree {
    VEC(struct context) contexts;
    struct context_slot *slots; /* open addressing */
    size_t slot_count;
};

void context_tree_start(struct context_tree *tree);
void context_tree_free(struct context_tree *tree);

/* The child of `parent` that is so named; added when it is new. */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, enum context_kind kind,
                            uint32_t name, uint64_t detail);

/* Adds all contexts of `from`; returns their ids in `into`, to be freed by the caller. */
uint32_t *context_tree_merge(struct context_tree *into, const struct context_tree *from);

/* Leaves out the contexts that have nothing at or below them, of those that `is_used` says what has
 * something itself. Returns the new ids of the others, to be freed by the caller. */
uint32_t *context_tree_prune(struct context_tree *tree, bool *is_used);

#endif
