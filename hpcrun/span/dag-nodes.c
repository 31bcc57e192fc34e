#include "hpcrun/span/dag-nodes.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

#include <string.h>

#define SLOT_BITS 15
#define SLOTS     (1u << SLOT_BITS)

/* The last nodes are kept for summaries. */
#define SUMMARIES 2048u

#define MOST_CHAIN 255u

/* 16.8 us: the unit is that of strand-clock.h. */
#define SMALL_WORK (UINT64_C(1) << 24)

/* Parts of a key. */
enum {
    CHAIN_SHIFT = 0,
    BURDENED_SHIFT = 8,
    SPAN_SHIFT = 17,
    WORK_SHIFT = 26,
    KIND_SHIFT = 35,
    CONTEXT_SHIFT = 37,
};
#define IS_KEY (UINT64_C(1) << 63)

/* Found by its key, which is stored last. */
struct slot {
    _Atomic uint64_t key;
    uint32_t node;
};

static struct {
    struct lock lock; /* of all that adds */
    struct slot *slots;
    struct dag_node *nodes;
    struct dag_item *items;
    uint32_t item_count;
    _Atomic uint32_t end;
} dag;

bool dag_nodes_init(void)
{
    dag.slots = sys_pages(SLOTS * sizeof *dag.slots);
    dag.nodes = sys_pages(DAG_MAX_NODES * sizeof *dag.nodes);
    dag.items = sys_pages(DAG_MAX_ITEMS * sizeof *dag.items);
    dag.end = DAG_FIRST_NODE;
    return dag.slots && dag.nodes && dag.items;
}

void dag_nodes_clear(void)
{
    memset(dag.slots, 0, SLOTS * sizeof *dag.slots);
    dag.item_count = 0;
    dag.end = DAG_FIRST_NODE;
}

uint32_t dag_nodes_end(void)
{
    return dag.end;
}

const struct dag_node *dag_node(uint32_t id)
{
    return &dag.nodes[id];
}

const struct dag_item *dag_items(const struct dag_node *node)
{
    return &dag.items[node->first];
}

/* ---- keys ---- */

/* The step of a value on a logarithmic scale with 2^bits steps for a factor of two. */
static uint64_t step_of(uint64_t value, unsigned bits)
{
    unsigned exponent = 63u - (unsigned)__builtin_clzll(value | 8);
    return (uint64_t)exponent << bits | ((value >> (exponent - bits)) & ((1u << bits) - 1));
}

/* In small subtrees, strands differ more, and a steal takes as long as many of them. */
static uint64_t key_of(uint32_t context, enum dag_kind kind, const struct dag_lengths *lengths)
{
    unsigned more = lengths->work >= SMALL_WORK;
    return IS_KEY | (uint64_t)context << CONTEXT_SHIFT | (uint64_t)kind << KIND_SHIFT |
           step_of(lengths->work, 2 + more) << WORK_SHIFT |
           step_of(lengths->span, 1 + more) << SPAN_SHIFT |
           step_of(lengths->burdened, 1) << BURDENED_SHIFT;
}

/* Summaries: their work, and the logarithm of their parallelism. */
static uint64_t summary_key(const struct dag_lengths *lengths)
{
    uint64_t parallelism = lengths->span ? lengths->work / lengths->span : 1;
    return IS_KEY | (uint64_t)DAG_SUMMARY << KIND_SHIFT | step_of(lengths->work, 1) << WORK_SHIFT |
           step_of(parallelism, 0) << SPAN_SHIFT;
}

/* The child that may have the same key: only one can have nearly all of the work. */
static uint32_t largest_child(const struct dag_item *items, uint32_t n)
{
    uint32_t largest = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < n; i++)
        if (items[i].node >= DAG_FIRST_NODE && items[i].count == 1 && items[i].work > work) {
            largest = items[i].node;
            work = items[i].work;
        }
    return largest;
}

/* The place in a chain of subtrees with the same key. Between two activations of a chain may lie a
 * block. */
static uint32_t chain_of(uint64_t key, uint32_t largest)
{
    for (int depth = 0; depth < 2 && largest; depth++, largest = dag.nodes[largest].largest)
        if (dag.nodes[largest].key == key)
            return dag.nodes[largest].chain < MOST_CHAIN ? dag.nodes[largest].chain + 1
                                                         : MOST_CHAIN;
    return 0;
}

/* ---- nodes ---- */

/* The slot with a key, or the free one for it. */
static struct slot *slot_of(uint64_t key)
{
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS));
    for (;; i = (i + 1) % SLOTS) {
        uint64_t found = atomic_load_explicit(&dag.slots[i].key, memory_order_acquire);
        if (found == key || found == 0)
            return &dag.slots[i];
    }
}

static bool is_taken(const struct slot *slot)
{
    return atomic_load_explicit(&slot->key, memory_order_acquire) != 0;
}

static uint32_t add(struct slot *slot, uint64_t key, const struct dag_node *node,
                    const struct dag_item *items)
{
    uint32_t id = dag.end;
    dag.nodes[id] = *node;
    dag.nodes[id].first = dag.item_count;
    if (node->n)
        memcpy(&dag.items[dag.item_count], items, node->n * sizeof *items);
    dag.item_count += node->n;
    dag.end = id + 1;
    slot->node = id;
    atomic_store_explicit(&slot->key, key, memory_order_release);
    return id;
}

/* Whether only summaries may be added. Nothing is taken out, so this lasts. */
static bool is_full(void)
{
    return atomic_load_explicit(&dag.end, memory_order_relaxed) >= DAG_MAX_NODES - SUMMARIES;
}

static uint32_t summary_of(const struct dag_lengths *lengths)
{
    uint64_t key = summary_key(lengths);
    const struct dag_node node = {
        .key = key, .kind = DAG_SUMMARY, .work = lengths->work, .span = lengths->span};
    struct slot *slot = slot_of(key);
    if (is_taken(slot))
        return slot->node;
    return dag.end < DAG_MAX_NODES ? add(slot, key, &node, NULL) : DAG_STRAND;
}

static uint32_t node_or_summary(uint64_t key, const struct dag_node *node,
                                const struct dag_lengths *lengths, const struct dag_item *items)
{
    struct slot *slot = slot_of(key); /* another worker may have added it */
    if (is_taken(slot))
        return slot->node;
    if (is_full() || dag.item_count + node->n > DAG_MAX_ITEMS)
        return summary_of(lengths);
    return add(slot, key, node, items);
}

uint32_t dag_node_of(uint32_t context, enum dag_kind kind, const struct dag_lengths *lengths,
                     const struct dag_item *items, uint32_t n)
{
    uint64_t key = key_of(context, kind, lengths);
    uint32_t largest = largest_child(items, n), chain = chain_of(key, largest);
    const struct slot *slot = slot_of(key | chain);
    if (!is_taken(slot) && is_full())
        slot = slot_of(summary_key(lengths));
    if (is_taken(slot))
        return slot->node;
    const struct dag_node node = {.key = key,
                                  .chain = chain,
                                  .largest = largest,
                                  .kind = kind,
                                  .n = n,
                                  .work = lengths->work,
                                  .span = lengths->span};
    uint64_t mask = lock_take(&dag.lock);
    uint32_t id = node_or_summary(key | chain, &node, lengths, items);
    lock_release(&dag.lock, mask);
    return id;
}
