/* What an activation has spawned so far, for the recorded dag (dag-nodes.h).
 *
 * Items are in a list. One item stands for several children in a row if they are nearly the same.
 * A list has at most MOST_ITEMS items: in a full one, each two neighbors become one, which refers to
 * the larger child and has the work of both. */
#ifndef HPCRUN_SPAN_DAG_SHAPE_H
#define HPCRUN_SPAN_DAG_SHAPE_H

#include "hpcrun/span/dag-nodes.h"
#include "hpcrun/span/worker-memory.h"

/* Items of a list that is full. */
#define MOST_ITEMS 84

struct dag_list;

/* Zeroed memory is an activation that has spawned nothing. */
struct dag_shape {
    struct dag_list *spawns; /* items of the current block; NULL: none */
    struct dag_list
        *blocks;     /* earlier blocks of a procedure that syncs several times; NULL: none */
    uint64_t strand; /* time since the last item */
    bool is_synced;  /* the current block has ended */
    /* Of the activation: at the end of the current block, if that has ended, and of the last one in
     * `blocks`, if there is one. */
    struct dag_lengths end, before;
};

/* Normal context, before any worker: shapes are recorded from now on. False without memory. Until
 * then the functions below do nothing. */
bool shape_record(void);

/* A child has ended. */
void shape_add_child(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                     uint32_t child, uint64_t work);

/* The slow parts of the functions below: for activations that have spawned. */
void shape_end_block(struct dag_shape *shape, struct worker_memory *memory, uint64_t work,
                     uint64_t span, uint64_t burdened);
uint32_t shape_make_node(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                         uint64_t work, uint64_t span, uint64_t burdened);

/* A sync of an activation with these lengths up to it. */
static inline void shape_sync(struct dag_shape *shape, struct worker_memory *memory, uint64_t work,
                              uint64_t span, uint64_t burdened)
{
    if (shape->spawns && !shape->is_synced)
        shape_end_block(shape, memory, work, span, burdened);
}

/* The activation was stolen when it had the shape `before`; then came the end of a child that the
 * victim executed, and `rest` since the steal. Leaves all in `rest`. */
void shape_put_before(struct dag_shape *before, struct worker_memory *memory, uint32_t context,
                      uint32_t child, uint64_t work, struct dag_shape *rest);

/* The activation has ended, with a sync: what its parent refers to. Empties the shape. */
static inline uint32_t shape_end(struct dag_shape *shape, struct worker_memory *memory,
                                 uint32_t context, uint64_t work, uint64_t span, uint64_t burdened)
{
    uint32_t node = DAG_STRAND;
    if (shape->spawns || shape->blocks)
        node = shape_make_node(shape, memory, context, work, span, burdened);
    shape->strand = 0;
    return node;
}

/* Whether memory ran out: then the dag is incomplete. */
bool shape_has_failed(void);

/* ---- a plain list of items, for the serial program ---- */

/* Adds an item with these members, and makes the list if it is NULL. (A structure that is written
 * in parts and then read as a whole makes the processor wait.) */
void dag_list_add(struct dag_list **list, struct worker_memory *memory, uint32_t node,
                  uint32_t count, uint64_t strand, uint64_t work);

const struct dag_item *dag_list_items(const struct dag_list *list, uint32_t *n);

#endif
