/* The numbers of a recorded dag: in DAG chunks of measurement files (doc/FORMAT-hpcrun.md) and in
 * spawn-dags of databases (doc/FORMAT-database.md). */
#ifndef LIB_DAG_FORMAT_H
#define LIB_DAG_FORMAT_H

#define DAG_VERSION 1

/* Readers refuse more. */
#define DAG_MAX_NODES (1u << 14)
#define DAG_MAX_ITEMS (1u << 18) /* of all nodes together */

/* What an item refers to. Nodes have ids from DAG_FIRST_NODE on. */
enum dag_reference {
    DAG_NOTHING,    /* only a strand; where children were spawned before, a sync follows it */
    DAG_STRAND,     /* a child that spawns nothing */
    DAG_FIRST_NODE, /* that node, scaled to the item's work */
};

enum dag_kind {
    DAG_SPAWNS,  /* items are spawned: each runs beside what follows, up to the next sync */
    DAG_SERIES,  /* items run one after the other */
    DAG_SUMMARY, /* no items: only work and span are known */
    DAG_KINDS
};

#endif
