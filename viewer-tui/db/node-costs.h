/* What each node of the calling context tree costs: by metric and part, summed over all threads or over some.
 *
 * profile.db has most of these values. Some versions of HPCToolkit wrote databases without the scope `lex_aware`, or
 * metrics whose costs are not propagated. The costs of each node alone follow from the scopes that exist, and the
 * missing ones from these: they are computed on first use, into columns (a double for each node). The nodes of a folded
 * tree have sums over those of the file's (fold.h).
 *
 * thread-sums.h has those of a part of the threads. */
#ifndef VIEWER_NODE_COSTS_H
#define VIEWER_NODE_COSTS_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/nodes.h"

/* What a node of the file adds to the costs of a folded node. */
enum term_role {
    TERM_WHOLE, /* its costs are added */
    TERM_OWN,   /* its exclusive costs are added: a recursive call, inlined code, or the kernel */
    TERM_LEFT   /* its inclusive costs are subtracted: a call that leads out of the node */
};

struct fold_term {
    uint32_t node; /* of the file's tree */
    uint8_t role;  /* enum term_role */
};

/* A folded tree (fold.h), and of what the costs of its nodes are sums. */
struct fold {
    struct nodes *nodes;
    struct fold_term *terms; /* those of node n: first_term[n] .. first_term[n + 1] - 1 */
    uint32_t *first_term;
};

static inline bool fold_term_counts(const struct fold_term *term, enum cost_part part)
{
    return term->role == TERM_WHOLE || (term->role == TERM_LEFT) == (part == INCLUSIVE);
}

/* Sums over some threads are made block by block, when a node is asked for: positions of values in a block. */
#define SUMMED_BLOCK 1024

/* A thread whose values are added up. */
struct summed_thread {
    struct values values;
    uint64_t next; /* index of the context at which the next block is expected to begin */
};

/* Work, overhead and idleness (metrics/efficiency.h). */
#define MOST_SUM_PARTS 3

struct node_costs {
    struct nodes *nodes; /* db->nodes, or a part of these, which it owns */
    size_t n_slots;            /* metrics with values of their own (metrics_slot) */
    double **sums;       /* over some threads, by position of values: that of a slot and scope is
                            sums[METRIC_SCOPES * slot + scope]; NULL: profile.db has the sums */
    VEC(double *) columns; /* what `sums` points to: metrics of a damaged file may share ids, and so a column */
    double **column_of;    /* by metric id in the threads' profiles: one of these, or NULL */
    VEC(struct summed_thread) threads; /* whose values are in `sums`, as far as these blocks are made: */
    bool *has_block;                   /* NULL: `sums` are complete */
    uint64_t values_left; /* values that may still be read: profiles of a damaged file can overlap */
    double **completed;  /* by node: completed[2 * slot + part]; NULL: not computed yet */
    struct sum_parts {
        size_t n, slots[MOST_SUM_PARTS];
    } *parts; /* by slot: the metrics that a sum adds up, in the order of their values */
    struct value_role {
        int32_t metric, sum; /* stored metrics to which the value is added, or METRIC_ABSENT */
        uint8_t scope;       /* enum metric_scope */
    } *roles;       /* by metric id in the summary */
    size_t n_roles; /* 1 + the largest id that has one */
    bool are_whole; /* the summary has all scopes of all metrics */
};

/* The cost of a node of database_nodes(db) in a metric that is not derived. Exclusive costs of a loop exclude inner
 * loops. */
double node_cost(const struct database *db, uint32_t node, size_t metric, enum cost_part part);

/* All of them at once, by stored metric: faster than one by one. */
void node_costs_get(const struct database *db, uint32_t node, struct cost *costs);

/* Whether a node has exclusive costs in any stored metric. */
bool node_has_own_cost(const struct database *db, uint32_t node);

/* The costs of each node of the file's tree alone, in a measured metric of the file. The caller frees. */
double *node_own_costs(const struct database *db, size_t metric);

/* The scope whose value is that part of a node's cost. */
static inline enum metric_scope node_cost_scope(const struct nodes *nodes, uint32_t node, enum cost_part part)
{
    if (part == INCLUSIVE)
        return METRIC_EXECUTION;
    return nodes->kind[node] == KIND_LOOP ? METRIC_LEX_AWARE : METRIC_FUNCTION;
}

/* The calling context tree: that of meta.db, read at the first call, which takes a pass over all contexts; folded, if
 * the database is. NULL if the user stopped the pass. Metrics must have been chosen. */
const struct nodes *database_nodes(struct database *db);

/* Replaces what the nodes of a database that is not folded cost, and which of them there are. Takes ownership. */
void database_set_costs(struct database *db, struct node_costs *costs);

/* Frees the tree of a database that is not folded, what its nodes cost, and the slice of these costs. */
void database_forget_nodes(struct database *db);

/* Those of db->nodes over all threads. */
struct node_costs *node_costs_new(const struct database *db);
void node_costs_free(const struct database *db, struct node_costs *costs); /* NULL allowed */

#endif
