#include "viewer-tui/threads/thread-profile.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"

#include <stdlib.h>

/* A metric that is paid, and its value in each scope. */
struct paid_metric {
    const struct metric_ids *ids;
    size_t slot;
};

/* The values of a thread while they are added up. */
struct profile_maker {
    const struct database *db;
    struct time_slice *slice;
    struct record_sums *sums;
    VEC(struct paid_metric) metrics;
    size_t *column_of; /* by slot: index in `metrics` */
    VEC(uint32_t) nodes; /* where the thread has values, and those above; ascending */
    uint32_t *number_of; /* by node: 1 + index in `nodes`; 0: not there */
    /* Of node number n and metric m: values[n * metrics.n + m]. Those of METRIC_LEX_AWARE leave out all loops below. */
    double (*values)[METRIC_SCOPES];
};

static void take_metric(struct profile_maker *maker, size_t slot)
{
    const struct metrics *metrics = &maker->db->metrics;
    if (slot == NO_SLOT)
        return;
    maker->column_of[slot] = maker->metrics.n;
    vec_push(&maker->metrics,
             (struct paid_metric){metric_ids(&metrics->at[metrics_at_slot(metrics, slot)]), slot});
}

static void take_metrics(struct profile_maker *maker)
{
    const struct metrics *metrics = &maker->db->metrics;
    maker->column_of = mem_alloc((metrics->n_stored + metrics->n_hidden + 1) * sizeof *maker->column_of);
    for (int metric = 0; metric < RECORD_METRICS; metric++)
        take_metric(maker, maker->slice->slots[metric]);
    for (size_t kind = 0; kind < maker->slice->kinds.n; kind++)
        take_metric(maker, maker->slice->kinds.at[kind]);
}

static void find_nodes_of_positions(struct time_slice *slice, const struct database *db)
{
    if (slice->node_of)
        return;
    slice->node_of = mem_alloc((db->values.n_index + 1) * sizeof *slice->node_of);
    slice->number_of = mem_alloc(db->nodes->n * sizeof *slice->number_of);
    for (uint32_t node = 0; node < db->nodes->n; node++)
        if (db->nodes->position[node] != NOTHING)
            slice->node_of[db->nodes->position[node]] = node;
}

/* The node of a sum; 0: none. */
static uint32_t node_of(const struct profile_maker *maker, const struct record_sum *sum)
{
    uint64_t position = time_slice_position(maker->slice, maker->db, sum, 0);
    return position == NO_POSITION ? 0 : maker->slice->node_of[position];
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void find_nodes(struct profile_maker *maker)
{
    const struct nodes *nodes = maker->db->nodes;
    for (size_t i = 0; i < maker->sums->list.n; i++) {
        uint32_t node = node_of(maker, &maker->sums->list.at[i]);
        for (; node != 0 && !maker->number_of[node]; node = nodes->parent[node]) {
            vec_push(&maker->nodes, node);
            maker->number_of[node] = 1;
        }
    }
    if (maker->nodes.n)
        vec_push(&maker->nodes, 0);
    vec_sort(&maker->nodes, ascending);
    for (size_t n = 0; n < maker->nodes.n; n++)
        maker->number_of[maker->nodes.at[n]] = (uint32_t)n + 1;
}

/* Adds what the records pay to the contexts where they are, in all scopes. */
static void add_sums(struct profile_maker *maker)
{
    struct slot_payment payments[RECORD_METRICS + 1];
    for (size_t i = 0; i < maker->sums->list.n; i++) {
        const struct record_sum *sum = &maker->sums->list.at[i];
        uint32_t node = node_of(maker, sum);
        size_t n = node == 0 ? 0 : time_slice_payments(maker->slice, sum, payments);
        for (size_t p = 0; p < n; p++) {
            size_t at = (maker->number_of[node] - 1) * maker->metrics.n + maker->column_of[payments[p].slot];
            for (int scope = 0; scope < METRIC_SCOPES; scope++)
                maker->values[at][scope] += payments[p].amount;
        }
    }
}

/* Adds the values of each node to the scopes around it that include it. */
static void propagate(struct profile_maker *maker)
{
    const struct nodes *nodes = maker->db->nodes;
    size_t n_metrics = maker->metrics.n;
    for (size_t n = maker->nodes.n; n-- > 1;) {
        uint32_t node = maker->nodes.at[n];
        bool is_lexical = is_lexical_kind(nodes->kind[node]), is_loop = nodes->kind[node] == KIND_LOOP;
        size_t parent = maker->number_of[nodes->parent[node]] - 1;
        for (size_t m = 0; m < n_metrics; m++) {
            const double *from = maker->values[n * n_metrics + m];
            double *to = maker->values[parent * n_metrics + m];
            to[METRIC_EXECUTION] += from[METRIC_EXECUTION];
            to[METRIC_FUNCTION] += is_lexical ? from[METRIC_FUNCTION] : 0;
            to[METRIC_LEX_AWARE] += is_lexical && !is_loop ? from[METRIC_LEX_AWARE] : 0;
        }
    }
}

static int by_position(const void *left, const void *right, void *nodes)
{
    const struct nodes *of = nodes;
    const uint32_t *a = left, *b = right;
    return (of->position[*a] > of->position[*b]) - (of->position[*a] < of->position[*b]);
}

/* Writes the values as profile.db has them. */
static struct values encode(struct profile_maker *maker)
{
    const struct database *db = maker->db;
    VEC(struct v4_context_index) index = {0};
    VEC(struct v4_metric_value) values = {0};
    vec_reserve(&index, 1); /* an empty profile has been made, too */
    if (maker->nodes.n)
        qsort_r(maker->nodes.at, maker->nodes.n, sizeof *maker->nodes.at, by_position, db->nodes);
    for (size_t i = 0; i < maker->nodes.n; i++) {
        uint32_t node = maker->nodes.at[i], position = db->nodes->position[node];
        const double(*from)[METRIC_SCOPES] =
            (const double(*)[METRIC_SCOPES])&maker->values[(maker->number_of[node] - 1) * maker->metrics.n];
        bool is_loop = db->nodes->kind[node] == KIND_LOOP;
        if (position == NOTHING)
            continue;
        vec_push(&index, (struct v4_context_index){db->values.index[position].context_id, values.n});
        for (size_t m = 0; m < maker->metrics.n; m++)
            for (int scope = 0; scope < METRIC_SCOPES; scope++) {
                int id = maker->metrics.at[m].ids->thread[scope];
                double value = from[m][scope == METRIC_LEX_AWARE && !is_loop ? METRIC_FUNCTION : scope];
                if (id != METRIC_ABSENT && value != 0)
                    vec_push(&values, (struct v4_metric_value){(uint16_t)id, value});
            }
    }
    return (struct values){.path = maker->slice->timeline->map.path,
                           .index = index.at,
                           .n_index = index.n,
                           .values = values.at,
                           .n_values = values.n};
}

static struct values make_profile(const struct database *db, uint32_t number)
{
    struct time_slice *slice = db->slice;
    find_nodes_of_positions(slice, db);
    struct profile_maker maker = {.db = db, .slice = slice, .sums = &slice->sums, .number_of = slice->number_of};
    time_slice_add(slice, number, maker.sums);
    take_metrics(&maker);
    find_nodes(&maker);
    maker.values = mem_alloc((maker.nodes.n * maker.metrics.n + 1) * sizeof *maker.values);
    add_sums(&maker);
    propagate(&maker);
    struct values values = encode(&maker);
    for (size_t n = 0; n < maker.nodes.n; n++)
        slice->number_of[maker.nodes.at[n]] = 0;
    record_sums_clear(maker.sums);
    vec_free(&maker.metrics);
    vec_free(&maker.nodes);
    free(maker.column_of);
    free(maker.values);
    return values;
}

bool thread_profile(const struct database *db, uint32_t number, struct values *values)
{
    struct v4_profile profile = database_profile(db, number);
    if (profile_is_summary(&profile))
        return false;
    if (!db->slice)
        return values_map(values, &db->profile, &profile.values);
    struct values *made = &db->slice->profiles[number];
    if (!made->index)
        *made = make_profile(db, number);
    *values = *made;
    return true;
}
