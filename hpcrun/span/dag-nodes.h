/* The recorded dag of a fork-join program: one node for all subtrees that are nearly the same.
 *
 * A node is a subtree of the tree of spawns: an activation with all that it spawns, or one block of
 * it (what lies between two syncs). It consists of items in the order of the program: a strand, and
 * a child behind it. Subtrees share a node if they
 *
 *   - have the same calling context (span-contexts.h),
 *   - have work, span and burdened span in the same steps of logarithmic scales: 8, 4 and 2 steps for
 *     a factor of two; below 17 us of work 4, 2 and 2,
 *   - and have the same place in a chain of such subtrees. In a chain, the next subtree is a child
 *     of the one before.
 *
 * The first of them is kept. An item has the exact work of its own children, to which a reader scales
 * the node. So the work of every node is exact, whatever is shared; the shape within a subtree is
 * that of another one whose span differs by less than a fifth.
 *
 * Memory is bounded by DAG_MAX_NODES and DAG_MAX_ITEMS. Then nodes are summaries, without items,
 * which share by work and parallelism alone, and then children become strands.
 *
 * Nodes are found and added by all workers at once. A child's id is smaller than its parent's. */
#ifndef HPCRUN_SPAN_DAG_NODES_H
#define HPCRUN_SPAN_DAG_NODES_H

#include "lib/dag-format.h"

#include <stdbool.h>
#include <stdint.h>

/* `count` times in a row: a strand, then a child. Times are sums over all of them, in the unit of
 * strand-clock.h. */
struct dag_item {
    uint32_t node; /* enum dag_reference, or a node's id */
    uint32_t count;
    uint64_t strand, work;
};

struct dag_lengths {
    uint64_t work, span, burdened;
};

struct dag_node {
    uint64_t key;     /* without the place in a chain */
    uint32_t chain;   /* place in a chain of subtrees with the same key */
    uint32_t largest; /* its only child that may have the same key; 0: none */
    enum dag_kind kind;
    uint32_t first, n; /* items */
    uint64_t work, span;
};

/* Reserves memory; false if there is none. Normal context, once. */
bool dag_nodes_init(void);

/* Forgets all nodes. No worker may use one. */
void dag_nodes_clear(void);

/* The node of a subtree with these items; DAG_STRAND if there is no room for any. */
uint32_t dag_node_of(uint32_t context, enum dag_kind kind, const struct dag_lengths *lengths,
                     const struct dag_item *items, uint32_t n);

/* The end of the ids in use. */
uint32_t dag_nodes_end(void);

const struct dag_node *dag_node(uint32_t id);
const struct dag_item *dag_items(const struct dag_node *node);

#endif
