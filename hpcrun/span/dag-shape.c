#include "hpcrun/span/dag-shape.h"

#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>
#include <string.h>

/* Strands below this, the unit of strand-clock.h, are alike: a steal costs five times as much. */
#define SHORT_STRAND (UINT64_C(1000) << STRAND_SHIFT)

/* The size of the block of a full list. */
#define MOST_SIZE 4u

struct dag_list {
    uint32_t n, capacity;
    uint32_t size;  /* of its block, worker-memory.h */
    uint32_t grain; /* children in a row that become one item, however they differ */
    struct dag_item at[];
};

static bool is_recorded;
static atomic_bool failed;

bool shape_record(void)
{
    is_recorded = dag_nodes_init();
    return is_recorded;
}

bool shape_has_failed(void)
{
    return atomic_load(&failed);
}

/* ---- lists ---- */

static void free_list(struct dag_list **list, struct worker_memory *memory)
{
    if (*list)
        block_free(memory, *list, (*list)->size);
    *list = NULL;
}

/* The lengths differ by less than a factor, or both are short. */
static inline bool are_near(uint64_t a, uint32_t a_count, uint64_t b, uint32_t b_count,
                            double factor)
{
    if (a < SHORT_STRAND * a_count && b < SHORT_STRAND * b_count)
        return true;
    double x = (double)a * b_count, y = (double)b * a_count;
    return x < factor * y && y < factor * x;
}

/* Adds children to an item. If they are not the same, the item refers to the larger ones, and
 * strands are as long as their mean. */
static inline void merge(struct dag_item *into, uint32_t node, uint32_t count, uint64_t strand,
                         uint64_t work)
{
    if (into->node != node && (double)work * into->count > (double)into->work * count)
        into->node = node;
    into->count += count;
    into->strand += strand;
    into->work += work;
}

static bool is_sync(const struct dag_item *item)
{
    return item->node == DAG_NOTHING;
}

static void merge_items(struct dag_item *into, const struct dag_item *item)
{
    merge(into, item->node, item->count, item->strand, item->work);
}

/* Makes one item of each two neighbors. */
static void halve(struct dag_list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++, n++) {
        list->at[n] = list->at[i];
        if (i + 1 < list->n && !is_sync(&list->at[i]) && !is_sync(&list->at[i + 1]) &&
            list->at[i].count + (uint64_t)list->at[i + 1].count <= UINT32_MAX)
            merge_items(&list->at[n], &list->at[++i]);
    }
    list->n = n;
    list->grain *= list->grain < UINT32_MAX / 2 ? 2 : 1;
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
    uint64_t bytes = (FIRST_BLOCK << size) - sizeof *larger;
    larger->size = size;
    larger->capacity = (uint32_t)(bytes / sizeof *larger->at);
    return larger;
}

/* Makes room for an item in a full list; false without memory. */
static bool make_room(struct dag_list **list, struct worker_memory *memory)
{
    if (*list && (*list)->size == MOST_SIZE) {
        halve(*list);
        return (*list)->n < (*list)->capacity;
    }
    struct dag_list *larger = enlarge(*list, memory);
    *list = larger ? larger : *list;
    return larger;
}

/* Whether children can be added to the last item: they are nearly the same, or the list has seen so
 * many that it is less exact. */
static inline bool can_merge(const struct dag_list *list, const struct dag_item *last,
                             uint32_t node, uint32_t count, uint64_t strand, uint64_t work)
{
    uint64_t together = last->count + (uint64_t)count;
    if (is_sync(last) || node == DAG_NOTHING || together > UINT32_MAX)
        return false;
    if (together <= list->grain)
        return true;
    return last->node == node && are_near(last->strand, last->count, strand, count, 2) &&
           (node != DAG_STRAND || are_near(last->work, last->count, work, count, 1.25));
}

static inline void append(struct dag_list **list, struct worker_memory *memory, uint32_t node,
                          uint32_t count, uint64_t strand, uint64_t work)
{
    if (!(*list && (*list)->n < (*list)->capacity) && !make_room(list, memory)) {
        atomic_store(&failed, true);
        return;
    }
    struct dag_item *item = &(*list)->at[(*list)->n++];
    item->node = node;
    item->count = count;
    item->strand = strand;
    item->work = work;
}

void dag_list_add(struct dag_list **list, struct worker_memory *memory, uint32_t node,
                  uint32_t count, uint64_t strand, uint64_t work)
{
    struct dag_item *last = *list && (*list)->n ? &(*list)->at[(*list)->n - 1] : NULL;
    if (last && can_merge(*list, last, node, count, strand, work))
        merge(last, node, count, strand, work);
    else
        append(list, memory, node, count, strand, work);
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
    memory->lookups++;
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
    uint32_t node = node_of_list(&shape->spawns, memory, context, DAG_SPAWNS, &lengths);
    dag_list_add(&shape->blocks, memory, node, 1, 0, lengths.work);
    shape->before = shape->end;
    shape->is_synced = false;
}

/* Adds an item that consists of the time since the last one. */
static void add_strand(struct dag_shape *shape, struct dag_list **list,
                       struct worker_memory *memory)
{
    append(list, memory, DAG_NOTHING, 1, shape->strand, 0);
    shape->strand = 0;
}

void shape_add_child(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                     uint32_t child, uint64_t work)
{
    if (!is_recorded)
        return;
    if (shape->is_synced && shape->spawns)
        close_block(shape, memory, context);
    dag_list_add(&shape->spawns, memory, child, 1, shape->strand, work);
    shape->strand = 0;
}

void shape_end_block(struct dag_shape *shape, struct worker_memory *memory, uint64_t work,
                     uint64_t span, uint64_t burdened)
{
    add_strand(shape, &shape->spawns, memory);
    shape->is_synced = true;
    shape->end.work = work;
    shape->end.span = span;
    shape->end.burdened = burdened;
}

void shape_put_before(struct dag_shape *before, struct worker_memory *memory, uint32_t context,
                      uint32_t child, uint64_t work, struct dag_shape *rest)
{
    if (!is_recorded)
        return;
    shape_add_child(before, memory, context, child, work);
    for (uint32_t i = 0; rest->spawns && i < rest->spawns->n; i++) {
        const struct dag_item *item = &rest->spawns->at[i];
        dag_list_add(&before->spawns, memory, item->node, item->count, item->strand, item->work);
    }
    free_list(&rest->spawns, memory);
    before->strand = rest->strand;
    *rest = *before;
    *before = (struct dag_shape){0};
}

uint32_t shape_make_node(struct dag_shape *shape, struct worker_memory *memory, uint32_t context,
                         uint64_t work, uint64_t span, uint64_t burdened)
{
    const struct dag_lengths lengths = {.work = work, .span = span, .burdened = burdened};
    bool is_series = shape->blocks;
    if (is_series)
        close_block(shape, memory, context);
    struct dag_list **list = is_series ? &shape->blocks : &shape->spawns;
    add_strand(shape, list, memory);
    shape->is_synced = false;
    return node_of_list(list, memory, context, is_series ? DAG_SERIES : DAG_SPAWNS, &lengths);
}
