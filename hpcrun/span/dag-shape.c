#include "hpcrun/span/dag-shape.h"

#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>
#include <string.h>

/* Strands below this, the unit of strand-clock.h, are alike: a steal costs five times as much. */
#define SHORT_STRAND (UINT64_C(1000) << STRAND_SHIFT)

/* The size of the block of a full list. */
#define MOST_SIZE 4u

struct dag_list {
    uint32_t n, size; /* size: of its block, worker-memory.h */
    uint64_t grain;   /* children in a row that become one item, however they differ */
    struct dag_item at[];
};

static atomic_bool failed;

bool shape_has_failed(void)
{
    return atomic_load(&failed);
}

/* ---- lists ---- */

static uint32_t capacity_of(const struct dag_list *list)
{
    uint64_t bytes = (FIRST_BLOCK << list->size) - sizeof *list;
    return (uint32_t)(bytes / sizeof *list->at);
}

static void free_list(struct dag_list **list, struct worker_memory *memory)
{
    if (*list)
        block_free(memory, *list, (*list)->size);
    *list = NULL;
}

/* Children of these items are nearly the same. Those without spawns are if the longer one takes less
 * than a quarter more. */
static bool have_same_child(const struct dag_item *a, const struct dag_item *b)
{
    if (a->node != b->node)
        return false;
    double x = (double)a->work * b->count, y = (double)b->work * a->count;
    return a->node != DAG_STRAND || (x < 1.25 * y && y < 1.25 * x) ||
           (a->work < SHORT_STRAND * a->count && b->work < SHORT_STRAND * b->count);
}

static bool have_same_strand(const struct dag_item *a, const struct dag_item *b)
{
    double x = (double)a->strand * b->count, y = (double)b->strand * a->count;
    return (x < 2 * y && y < 2 * x) ||
           (a->strand < SHORT_STRAND * a->count && b->strand < SHORT_STRAND * b->count);
}

/* Makes one item of two. A child of several strands is as long as their mean. */
static void merge(struct dag_item *into, const struct dag_item *item)
{
    double own = (double)into->work * item->count, other = (double)item->work * into->count;
    if (other > own)
        into->node = item->node;
    into->count += item->count;
    into->strand += item->strand;
    into->work += item->work;
}

static bool is_sync(const struct dag_item *item)
{
    return item->node == DAG_NOTHING;
}

/* Makes one item of each two neighbors. */
static void halve(struct dag_list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++, n++) {
        list->at[n] = list->at[i];
        if (i + 1 < list->n && !is_sync(&list->at[i]) && !is_sync(&list->at[i + 1]) &&
            list->at[i].count + (uint64_t)list->at[i + 1].count <= UINT32_MAX)
            merge(&list->at[n], &list->at[++i]);
    }
    list->n = n;
    list->grain *= 2;
}

static struct dag_list *enlarge(struct dag_list *list, struct worker_memory *memory)
{
    uint32_t size = list ? list->size + 1 : 0;
    struct dag_list *larger = block_take(memory, size);
    if (!larger)
        return NULL;
    if (list) {
        memcpy(larger, list, sizeof *list + list->n * sizeof *list->at);
        block_free(memory, list, list->size);
    } else {
        larger->n = 0;
        larger->grain = 1;
    }
    larger->size = size;
    return larger;
}

/* Makes room for an item; false without memory. */
static bool make_room(struct dag_list **list, struct worker_memory *memory)
{
    if (*list && (*list)->n < capacity_of(*list))
        return true;
    if (*list && (*list)->size == MOST_SIZE) {
        halve(*list);
        return (*list)->n < capacity_of(*list);
    }
    struct dag_list *larger = enlarge(*list, memory);
    *list = larger ? larger : *list;
    return larger;
}

static bool can_merge(const struct dag_list *list, const struct dag_item *last,
                      const struct dag_item *item)
{
    uint64_t count = last->count + (uint64_t)item->count;
    if (is_sync(last) || is_sync(item) || count > UINT32_MAX)
        return false;
    return count <= list->grain || (have_same_child(last, item) && have_same_strand(last, item));
}

void dag_list_add(struct dag_list **list, struct worker_memory *memory, const struct dag_item *item)
{
    struct dag_item *last = *list && (*list)->n ? &(*list)->at[(*list)->n - 1] : NULL;
    if (last && can_merge(*list, last, item))
        merge(last, item);
    else if (make_room(list, memory))
        (*list)->at[(*list)->n++] = *item;
    else
        atomic_store(&failed, true);
}

const struct dag_item *dag_list_items(const struct dag_list *list, uint32_t *n)
{
    *n = list ? list->n : 0;
    return list ? list->at : NULL;
}

/* ---- shapes ---- */

static uint32_t node_of_list(struct dag_list **list, struct worker_memory *memory, uint32_t context,
                             enum dag_kind kind, const struct dag_lengths *lengths)
{
    uint32_t node = dag_node_of(context, kind, lengths, (*list)->at, (*list)->n);
    free_list(list, memory);
    return node;
}

/* Makes the current block, which has ended, the last one of the earlier blocks. */
static void close_block(struct dag_shape *shape, struct worker_memory *memory, uint32_t context)
{
    struct dag_lengths lengths = shape->end;
    if (shape->blocks) {
        lengths.work -= shape->before.work;
        lengths.span -= shape->before.span;
        lengths.burdened -= shape->before.burdened;
    }
    struct dag_item block = {.count = 1, .work = lengths.work};
    block.node = node_of_list(&shape->spawns, memory, context, DAG_SPAWNS, &lengths);
    dag_list_add(&shape->blocks, memory, &block);
    shape->before = shape->end;
    shape->is_synced = false;
}

/* Adds an item that consists of the time since the last one. */
static void add_strand(struct dag_shape *shape, struct dag_list **list,
                       struct worker_memory *memory)
{
    const struct dag_item item = {.node = DAG_NOTHING, .count = 1, .strand = shape->strand};
    dag_list_add(list, memory, &item);
    shape->strand = 0;
}

void shape_add_child(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                     uint32_t child, uint64_t work)
{
    const struct dag_item item = {.node = child, .count = 1, .strand = shape->strand, .work = work};
    if (shape->is_synced && shape->spawns)
        close_block(shape, memory, context);
    dag_list_add(&shape->spawns, memory, &item);
    shape->strand = 0;
}

void shape_sync(struct dag_shape *shape, struct worker_memory *memory,
                const struct dag_lengths *lengths)
{
    if (!shape->spawns || shape->is_synced)
        return;
    add_strand(shape, &shape->spawns, memory);
    shape->is_synced = true;
    shape->end = *lengths;
}

void shape_put_before(struct dag_shape *before, struct worker_memory *memory, uint32_t context,
                      uint32_t child, uint64_t work, struct dag_shape *rest)
{
    shape_add_child(before, memory, context, child, work);
    for (uint32_t i = 0; rest->spawns && i < rest->spawns->n; i++)
        dag_list_add(&before->spawns, memory, &rest->spawns->at[i]);
    free_list(&rest->spawns, memory);
    before->strand = rest->strand;
    *rest = *before;
    *before = (struct dag_shape){0};
}

uint32_t shape_end(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                   const struct dag_lengths *lengths)
{
    uint32_t node = DAG_STRAND;
    if (shape->blocks) {
        close_block(shape, memory, context);
        add_strand(shape, &shape->blocks, memory);
        node = node_of_list(&shape->blocks, memory, context, DAG_SERIES, lengths);
    } else if (shape->spawns) {
        add_strand(shape, &shape->spawns, memory);
        node = node_of_list(&shape->spawns, memory, context, DAG_SPAWNS, lengths);
    }
    shape->strand = 0;
    shape->is_synced = false;
    return node;
}
