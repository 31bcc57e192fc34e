/* Signal handler: everything here runs in the sampling handler.
 *
 * A thread's logical calling context tree (L-CCT), after the Appendix of Tallent and
 * Mellor-Crummey, PPoPP 2009.
 *
 * A node is an X-structure: a p-note (ip), an l-note (lip), or both, its association, and whether
 * it begins a bichord. Two notes share a node if they have the same parent, ip and lip, and
 *  - the first note of a bichord: both or neither are x-0 (no l-note); the node collects the set of
 *    associations;
 *  - a later note: the association is the same.
 * So the tree does not depend on the order in which paths arrive. In native code every node is a
 * 1-1 bichord whose lip is its ip.
 *
 * Nodes have dense 32-bit ids from 1 in order of creation; 0 is the root. A hash table over
 * (parent, note) finds children. Memory: 24 bytes for a node, and 8 to 16 for its place in the
 * table from 32 nodes on. Metric values are separate, since few nodes have some. */
#ifndef HPCRUN_TREE_CCT_H
#define HPCRUN_TREE_CCT_H

#include "hpcrun/tree/segments.h"
#include "lib/measurement-format.h"

#define CCT_ROOT      0u
#define CCT_NO_MEMORY UINT32_MAX

struct cct_note {
    uint64_t ip; /* code/module-instances.h; 0: the node has no p-note */
    uint32_t lip;
    uint8_t association; /* enum association */
    bool first;          /* it is the first note of its bichord */
};

#define CCT_FIRST_TABLE 64

struct cct {
    struct segments nodes;  /* of struct cct_node; the root is item 0 */
    struct segments values; /* of { uint64_t node; uint64_t value[metrics]; } */
    uint32_t *table;        /* node ids, 0 empty; linear probing. At first first_table */
    uint32_t table_size;    /* power of two */
    uint32_t first_table[CCT_FIRST_TABLE];
    uint32_t metrics;
    uint32_t written;        /* nodes with smaller ids are in the measurement file */
    struct arena_undo *undo; /* where cct_add saves a value before it changes it; may be NULL */
};

/* Initializes a zeroed tree for this many metrics. Maps no memory before the first node. */
void cct_init(struct cct *cct, uint32_t metrics);

/* The child of `parent` for a note; makes it if it is new. CCT_NO_MEMORY if that fails. */
uint32_t cct_child(struct cct *cct, uint32_t parent, const struct cct_note *note);

/* Adds to a metric of a node; false without memory. */
bool cct_add(struct cct *cct, uint32_t node, uint32_t metric, uint64_t amount);

static inline struct cct_node *cct_node(const struct cct *cct, uint32_t id)
{
    return segments_item(&cct->nodes, id);
}

/* All ids are smaller; 0 before the first node. */
static inline uint32_t cct_end(const struct cct *cct)
{
    return cct->nodes.count;
}

/* The i-th record of values, i < cct->values.count: the node, and its value of every metric. */
static inline uint64_t *cct_values(const struct cct *cct, uint32_t i, uint32_t *node)
{
    uint64_t *record = segments_item(&cct->values, i);
    *node = (uint32_t)record[0];
    return record + 1;
}

/* Bytes of the tree without metric values. */
uint64_t cct_bytes(const struct cct *cct);

/* Empties the tree and keeps its memory for another thread. */
void cct_clear(struct cct *cct);

/* Empties the tree and frees its memory. */
void cct_free(struct cct *cct);

#endif
