/* DB/spawn-dags: what a fork-join program spawned, as `hpcrun --work-span` records it
 * (doc/FORMAT-database.md). Times are in units of DAG_UNIT seconds. */
#ifndef VIEWER_SPAWN_DAG_H
#define VIEWER_SPAWN_DAG_H

#include "lib/alloc.h"
#include "lib/dag-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2^-10 ns. */
#define DAG_UNIT (1 / 1.024e12)

/* `count` times in a row: a strand, then a child (enum dag_reference, or the id of a node). Times are
 * sums over all of them. */
struct dag_item {
    uint32_t node, count;
    double strand, work;
    double begin; /* sum of the times of the node's items before this one */
};

struct dag_node {
    enum dag_kind kind;
    uint32_t first, n; /* items */
    double work;       /* sum of the times of all items */
    double span;
};

struct spawn_dag {
    VEC(struct dag_node)
    nodes; /* by id; the first DAG_FIRST_NODE are unused, the last is the root.
                                   Items refer to earlier nodes only */
    VEC(struct dag_item) items;
    double burden;  /* of a steal */
    double summary; /* share of the work that is in summaries, whose items are made up */
};

/* Why there is no dag. */
enum dag_state {
    DAG_READ,
    DAG_MISSING, /* the run has none */
    DAG_SEVERAL, /* several processes have one */
    DAG_DAMAGED, /* a problem was noted (viewer-tui/base/task.h) */
};

/* Reads the dag of a database. The caller frees with spawn_dag_free. */
enum dag_state spawn_dag_read(const char *folder, struct spawn_dag *dag);

/* Decodes a dag; NULL, or the cause if it is damaged. The caller frees with spawn_dag_free in both
 * cases. */
const char *spawn_dag_decode(struct spawn_dag *dag, const uint8_t *at, size_t size);

/* Completes a dag whose nodes and items have all but what follows from them: begins of items, and
 * the items of summaries. NULL, or the cause if it is damaged. */
const char *spawn_dag_complete(struct spawn_dag *dag);

/* The span of the dag: that of the program as far as shared subtrees are alike. */
double spawn_dag_span(const struct spawn_dag *dag);

void spawn_dag_free(struct spawn_dag *dag);

static inline uint32_t spawn_dag_root(const struct spawn_dag *dag)
{
    return (uint32_t)dag->nodes.n - 1;
}

/* NULL, if the node has none. */
static inline const struct dag_item *spawn_dag_items(const struct spawn_dag *dag,
                                                     const struct dag_node *node)
{
    return node->n ? &dag->items.at[node->first] : NULL;
}

#endif
