#include "viewer-tui/db/spawn-dag.h"

#include "lib/bytes.h"
#include "lib/database-format.h"
#include "lib/gzip.h"
#include "viewer-tui/base/task.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Dags of this size have more nodes and items than a reader accepts, or more bytes than these need. */
#define MOST_BYTES (64u << 20)

/* Largest time: a day. Sums of these are exact as doubles. */
#define MOST_TIME (86400 / DAG_UNIT)

/* ---- decoding ---- */

struct bytes {
    const uint8_t *at, *end;
    bool is_bad;
};

static uint64_t read_integer(struct bytes *bytes)
{
    uint64_t value = 0;
    if (bytes->is_bad || !get_varint(&bytes->at, bytes->end, &value))
        bytes->is_bad = true;
    return bytes->is_bad ? 0 : value;
}

static double read_time(struct bytes *bytes)
{
    double time = (double)read_integer(bytes);
    bytes->is_bad |= time > MOST_TIME;
    return bytes->is_bad ? 0 : time;
}

/* An integer of at most `most`. */
static uint32_t read_small(struct bytes *bytes, uint32_t most)
{
    uint64_t value = read_integer(bytes);
    bytes->is_bad |= value > most;
    return bytes->is_bad ? 0 : (uint32_t)value;
}

static void read_node(struct bytes *bytes, struct spawn_dag *dag)
{
    struct dag_node node = {.kind = (enum dag_kind)read_small(bytes, DAG_KINDS - 1)};
    node.work = read_time(bytes);
    node.span = read_time(bytes);
    node.first = (uint32_t)dag->items.n;
    node.n = read_small(bytes, DAG_MAX_ITEMS);
    for (uint32_t i = 0; i < node.n && !bytes->is_bad; i++) {
        struct dag_item item = {.node = read_small(bytes, DAG_MAX_NODES)};
        item.count = read_small(bytes, UINT32_MAX);
        item.strand = read_time(bytes);
        item.work = read_time(bytes);
        vec_push(&dag->items, item);
    }
    bytes->is_bad |= dag->items.n > DAG_MAX_ITEMS;
    vec_push(&dag->nodes, node);
}

const char *spawn_dag_decode(struct spawn_dag *dag, const uint8_t *at, size_t size)
{
    struct bytes bytes = {.at = at, .end = at + size};
    *dag = (struct spawn_dag){0};
    if (read_integer(&bytes) != DAG_VERSION)
        return "the dag is of another version";
    uint32_t n = read_small(&bytes, DAG_MAX_NODES);
    dag->burden = read_time(&bytes);
    for (int i = 0; i < DAG_FIRST_NODE; i++)
        vec_push(&dag->nodes, (struct dag_node){0});
    for (uint32_t i = 0; i < n && !bytes.is_bad; i++)
        read_node(&bytes, dag);
    if (bytes.is_bad || n == 0 || bytes.at != bytes.end)
        return "the dag is damaged or incomplete";
    return spawn_dag_complete(dag);
}

/* ---- what follows from nodes and items ---- */

static bool is_item_good(const struct spawn_dag *dag, uint32_t id, const struct dag_item *item)
{
    bool has_child = item->node != DAG_NOTHING;
    if (item->node >= id || item->count == 0 || (!has_child && item->work > 0))
        return false;
    return item->work == 0 || item->node < DAG_FIRST_NODE || dag->nodes.at[item->node].work > 0;
}

/* As many strands beside each other as the work and the span of a summary allow. */
static void make_items(struct spawn_dag *dag, struct dag_node *node)
{
    double count = fmin(ceil(node->work / fmax(node->span, 1)), UINT32_MAX);
    struct dag_item item = {
        .node = DAG_STRAND, .count = (uint32_t)fmax(count, 1), .work = node->work};
    node->kind = DAG_SPAWNS;
    node->first = (uint32_t)dag->items.n;
    node->n = 1;
    vec_push(&dag->items, item);
}

/* Adds up the share of the work that is in summaries, from the root to the leaves. `is_summary`: by
 * node. */
static double summary_share(const struct spawn_dag *dag, const bool *is_summary)
{
    double *times = mem_alloc(dag->nodes.n * sizeof *times), share = 0; /* work of all uses */
    times[spawn_dag_root(dag)] = dag->nodes.at[spawn_dag_root(dag)].work;
    for (uint32_t id = spawn_dag_root(dag); id >= DAG_FIRST_NODE; id--) {
        const struct dag_node *node = &dag->nodes.at[id];
        const struct dag_item *items = spawn_dag_items(dag, node);
        share += is_summary[id] ? times[id] : 0;
        for (uint32_t i = 0; i < node->n && node->work > 0; i++)
            times[items[i].node] += times[id] * (items[i].work / node->work);
    }
    double work = dag->nodes.at[spawn_dag_root(dag)].work;
    free(times);
    return work > 0 ? share / work : 0;
}

const char *spawn_dag_complete(struct spawn_dag *dag)
{
    bool *is_summary = mem_alloc(dag->nodes.n * sizeof *is_summary);
    const char *cause = NULL;
    for (uint32_t id = DAG_FIRST_NODE; id < dag->nodes.n && !cause; id++) {
        struct dag_node *node = &dag->nodes.at[id];
        double begin = 0;
        is_summary[id] = node->kind == DAG_SUMMARY;
        if (is_summary[id])
            make_items(dag, node);
        for (uint32_t i = node->first; i < node->first + node->n; i++) {
            struct dag_item *item = &dag->items.at[i];
            if (!is_item_good(dag, id, item))
                cause = "the dag has an impossible item";
            item->begin = begin;
            begin += item->strand + item->work;
        }
        if (begin != node->work || node->span > node->work)
            cause = "the dag's work is not that of its parts";
    }
    if (!cause)
        dag->summary = summary_share(dag, is_summary);
    free(is_summary);
    return cause;
}

/* The span of a child of an item. */
static double child_span(const struct spawn_dag *dag, const struct dag_item *item,
                         const double *spans)
{
    double work = item->work / item->count;
    if (item->node < DAG_FIRST_NODE || work == 0)
        return work;
    return spans[item->node] * (work / dag->nodes.at[item->node].work);
}

static double node_span(const struct spawn_dag *dag, const struct dag_node *node,
                        const double *spans)
{
    const struct dag_item *items = spawn_dag_items(dag, node);
    double here = 0, longest = 0;
    for (uint32_t i = 0; i < node->n; i++) {
        double span = child_span(dag, &items[i], spans);
        here += items[i].strand;
        if (node->kind == DAG_SERIES)
            here += span * items[i].count;
        else if (items[i].node == DAG_NOTHING)
            here = fmax(here, longest);
        else
            longest = fmax(longest, here + span);
    }
    return fmax(here, longest);
}

double spawn_dag_span(const struct spawn_dag *dag)
{
    double *spans = mem_alloc(dag->nodes.n * sizeof *spans);
    for (uint32_t id = DAG_FIRST_NODE; id < dag->nodes.n; id++)
        spans[id] = node_span(dag, &dag->nodes.at[id], spans);
    double span = spans[spawn_dag_root(dag)];
    free(spans);
    return span;
}

void spawn_dag_free(struct spawn_dag *dag)
{
    vec_free(&dag->nodes);
    vec_free(&dag->items);
    *dag = (struct spawn_dag){0};
}

/* ---- the file ---- */

#define MAGIC_SIZE (sizeof DATABASE_DAGS_MAGIC - 1)

/* The file's only dag. */
static enum dag_state read_only_dag(const char *path, struct spawn_dag *dag, const uint8_t *at,
                                    size_t size)
{
    size_t head = MAGIC_SIZE + sizeof(uint64_t);
    if (size < head || memcmp(at, DATABASE_DAGS_MAGIC, MAGIC_SIZE) != 0) {
        problem_found(path, "not a file of recorded dags");
        return DAG_DAMAGED;
    }
    uint64_t first = get_u64(at + MAGIC_SIZE);
    if (first < size - head)
        return DAG_SEVERAL;
    const char *cause =
        first == size - head ? spawn_dag_decode(dag, at + head, first) : "the file is cut off";
    if (!cause)
        return DAG_READ;
    problem_found(path, "%s; there is no simulation", cause);
    return DAG_DAMAGED;
}

enum dag_state spawn_dag_read(const char *folder, struct spawn_dag *dag)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_DAGS_FILE);
    size_t size = 0;
    enum dag_state state = DAG_MISSING;
    *dag = (struct spawn_dag){0};
    if (access(path, F_OK) == 0) {
        char *content = gzip_read(path, MOST_BYTES, &size);
        if (content) {
            state = read_only_dag(path, dag, (const uint8_t *)content, size);
        } else {
            problem_found(path, "cannot be read; there is no simulation");
            state = DAG_DAMAGED;
        }
        free(content);
    }
    free(path);
    return state;
}
