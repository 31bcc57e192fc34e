/* The nodes that records of a thread's time line are at: their contexts, and what their work is paid as. */
#ifndef HPCPROF_TRACED_NODES_H
#define HPCPROF_TRACED_NODES_H

#include "hpcprof/attribution/sample-classes.h"
#include "hpcprof/threads/thread-paths.h"

struct traced_node {
    uint32_t node;    /* of the thread */
    uint32_t context; /* of one projection */
    uint32_t flags;   /* TRACE_AS_OVERHEAD or TRACE_AS_WAITING, TRACE_IN_KERNEL (lib/trace-format.h) */
    uint32_t kind;    /* metric of the kind of overhead; NO_METRIC: none */
};

/* Ascending by node. Nodes without values are not in it: their contexts would have none either. */
struct traced_nodes {
    struct traced_node *at;
    size_t n, cap;
};

/* Finds the traced nodes of a thread whose contexts and classes were found. `nodes` is zeroed. */
void traced_nodes_find(struct traced_nodes *nodes, struct thread_paths *paths,
                       const struct sample_classes *classes);

/* Finds the traced nodes of one thread by node; a zeroed one has none. */
struct node_index {
    VEC(uint32_t) at; /* by node: index among the traced nodes, or NO_NODE */
};

#define NO_NODE UINT32_MAX

/* Makes the index of one thread's traced nodes. It replaces what `index` has had. */
void node_index_of(struct node_index *index, const struct traced_nodes *nodes);

/* The index of a node among the traced ones; NO_NODE: it is not traced. */
static inline uint32_t node_index_find(const struct node_index *index, uint32_t node)
{
    return node < index->at.n ? index->at.at[node] : NO_NODE;
}

void node_index_free(struct node_index *index);

#endif
