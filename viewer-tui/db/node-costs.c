#include "viewer-tui/db/node-costs.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/time-slice.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of sums below this share of what was added are rounding errors. */
#define ROUNDING 1e-12

/* Lists the parts of each sum. They are added up in the order of their ids, whatever the order in which they are shown:
 * the same database always gives the same last digit. */
static void find_parts(struct node_costs *costs, const struct metrics *metrics)
{
    costs->parts = mem_alloc((costs->n_slots + 1) * sizeof *costs->parts);
    for (size_t slot = 0; slot < costs->n_slots; slot++) {
        const struct metric *metric = &metrics->at[metrics_at_slot(metrics, slot)];
        if (!metric_is_added(metric) || metric->source != METRIC_FROM_FILE)
            continue;
        struct sum_parts *parts = &costs->parts[metric->sum];
        assert(parts->n < MOST_SUM_PARTS);
        size_t at = parts->n++;
        for (; at > 0; at--) {
            size_t before = metrics_at_slot(metrics, parts->slots[at - 1]);
            if (metrics->at[before].ids.summary[METRIC_EXECUTION] < metric->ids.summary[METRIC_EXECUTION])
                break;
            parts->slots[at] = parts->slots[at - 1];
        }
        parts->slots[at] = slot;
    }
}

/* Sets the meaning of an id in the summary. */
static void set_role(struct node_costs *costs, int id, struct value_role role)
{
    static const struct value_role none = {METRIC_ABSENT, METRIC_ABSENT, METRIC_POINT};
    size_t n = (size_t)id + 1;
    if (n > costs->n_roles)
        costs->roles = mem_resize(costs->roles, n, sizeof *costs->roles);
    while (costs->n_roles < n)
        costs->roles[costs->n_roles++] = none;
    costs->roles[id] = role;
}

static void find_roles(struct node_costs *costs, const struct metrics *metrics)
{
    costs->are_whole = true;
    for (size_t slot = 0; slot < costs->n_slots; slot++)
        for (int scope = METRIC_FUNCTION; scope < METRIC_SCOPES; scope++) {
            const struct metric *metric = &metrics->at[metrics_at_slot(metrics, slot)];
            int id = metric_ids(metric)->summary[scope];
            bool is_needed = metric->source == METRIC_FROM_FILE && metric_is_measured(metric);
            costs->are_whole &= !is_needed || id != METRIC_ABSENT;
            if (id != METRIC_ABSENT)
                set_role(costs, id,
                         (struct value_role){.metric = slot < metrics->n_stored ? (int32_t)slot : METRIC_ABSENT,
                                             .sum = metric_is_added(metric) ? metric->sum : METRIC_ABSENT,
                                             .scope = (uint8_t)scope});
        }
}

struct node_costs *node_costs_new(const struct database *db)
{
    struct node_costs *costs = mem_alloc(sizeof *costs);
    costs->nodes = db->nodes;
    costs->n_slots = db->metrics.n_stored + db->metrics.n_hidden;
    costs->completed = mem_alloc((2 * costs->n_slots + 1) * sizeof *costs->completed);
    find_parts(costs, &db->metrics);
    find_roles(costs, &db->metrics);
    return costs;
}

void node_costs_free(const struct database *db, struct node_costs *costs)
{
    if (!costs)
        return;
    if (costs->nodes != db->nodes)
        nodes_free(costs->nodes);
    for (size_t i = 0; i < costs->columns.n; i++)
        free(costs->columns.at[i]);
    vec_free(&costs->columns);
    vec_free(&costs->threads);
    free(costs->column_of);
    free(costs->has_block);
    free(costs->sums);
    for (size_t i = 0; i < 2 * costs->n_slots; i++)
        free(costs->completed[i]);
    free(costs->completed);
    free(costs->parts);
    free(costs->roles);
    free(costs);
}

/* ---- values of profile.db, or sums over some threads ---- */

/* Whether the database has the values of a scope: in the summary, and of sums over some threads in all threads. */
static bool is_stored(const struct database *db, const struct metric *metric, enum metric_scope scope)
{
    size_t slot = metrics_slot(&db->metrics, (size_t)(metric - db->metrics.at));
    if (db->costs->sums)
        return db->costs->sums[METRIC_SCOPES * slot + scope] != NULL;
    return metric_ids(metric)->summary[scope] != METRIC_ABSENT;
}

static void add_values(struct node_costs *costs, const struct values *values, uint64_t from, uint64_t to)
{
    size_t n;
    const struct v4_metric_value *at = values_at(values, from, &n);
    for (; n > 0 && costs->values_left > 0; n--, at++) {
        double *column = costs->column_of[at->metric_id];
        costs->values_left--;
        if (!isfinite(at->value))
            problem_found(values->path, "corrupt: a value is not a number");
        else if (column)
            column[to] += at->value;
    }
}

/* Adds up the threads' values of the contexts in a block of the summary's. Both are ascending. */
static void add_block(const struct values *summary, struct node_costs *costs, uint64_t block)
{
    uint64_t first = block * SUMMED_BLOCK, left = summary->n_index - first;
    uint64_t last = first + (left < SUMMED_BLOCK ? left : SUMMED_BLOCK) - 1;
    costs->has_block[block] = true;
    for (size_t t = 0; t < costs->threads.n; t++) {
        struct summed_thread *thread = &costs->threads.at[t];
        const struct v4_context_index *of_thread = thread->values.index, *index = summary->index;
        uint64_t from = values_position_from(&thread->values, index[first].context_id, thread->next), to = first;
        for (; from < thread->values.n_index && of_thread[from].context_id <= index[last].context_id; from++) {
            while (index[to].context_id < of_thread[from].context_id)
                to++;
            if (index[to].context_id == of_thread[from].context_id)
                add_values(costs, &thread->values, from, to);
        }
        thread->next = from;
    }
}

static double stored_cost(const struct database *db, uint32_t node, size_t metric, enum metric_scope scope)
{
    struct node_costs *costs = db->costs;
    uint32_t position = costs->nodes->position[node];
    if (position == NOTHING)
        return 0;
    if (costs->has_block && !costs->has_block[position / SUMMED_BLOCK])
        add_block(&db->values, costs, position / SUMMED_BLOCK);
    if (costs->sums) {
        const double *column = costs->sums[METRIC_SCOPES * metrics_slot(&db->metrics, metric) + scope];
        return column ? column[position] : 0;
    }
    return values_get(&db->values, position, db->metrics.at[metric].ids.summary[scope]);
}

/* ---- what the database lacks ---- */

/* The costs of a stored scope, the basis, minus those of the nodes below that it includes. `point` comes last: HPCToolkit
 * omits instructions and their costs from databases, so that points add up to too little. */
double *node_own_costs(const struct database *db, size_t metric)
{
    const struct nodes *nodes = db->costs->nodes;
    const struct metric *of = &db->metrics.at[metric];
    enum metric_scope basis = is_stored(db, of, METRIC_EXECUTION)  ? METRIC_EXECUTION
                              : is_stored(db, of, METRIC_FUNCTION) ? METRIC_FUNCTION
                                                                   : METRIC_POINT;
    double *own = mem_alloc(nodes->n * sizeof *own), *whole = mem_alloc(nodes->n * sizeof *whole);
    for (uint32_t c = 0; c < nodes->n; c++)
        own[c] = whole[c] = stored_cost(db, c, metric, basis);
    for (uint32_t c = 1; c < nodes->n && basis != METRIC_POINT; c++)
        if (basis == METRIC_EXECUTION || is_lexical_kind(nodes->kind[c]))
            own[nodes->parent[c]] -= whole[c];
    if (nodes->position[0] == NOTHING)
        own[0] = 0;
    for (uint32_t c = 0; c < nodes->n; c++)
        if (fabs(own[c]) <= ROUNDING * fabs(whole[c]))
            own[c] = 0;
    free(whole);
    return own;
}

/* Computes both parts of a metric in all nodes. */
static void complete(const struct database *db, size_t metric, double *columns[2])
{
    const struct nodes *nodes = db->costs->nodes;
    double *own = node_own_costs(db, metric);
    size_t size = nodes->n * sizeof *own;
    double *inclusive = mem_alloc(size), *function = mem_alloc(size), *no_loops = own;
    memcpy(inclusive, own, size);
    memcpy(function, own, size);
    for (uint32_t c = nodes->n - 1; c > 0; c--) {
        uint32_t parent = nodes->parent[c];
        inclusive[parent] += inclusive[c];
        if (is_lexical_kind(nodes->kind[c]))
            function[parent] += function[c];
        if (is_lexical_kind(nodes->kind[c]) && nodes->kind[c] != KIND_LOOP)
            no_loops[parent] += no_loops[c];
    }
    for (uint32_t c = 0; c < nodes->n; c++)
        if (nodes->kind[c] == KIND_LOOP)
            function[c] = no_loops[c];
    free(no_loops);
    columns[INCLUSIVE] = inclusive;
    columns[EXCLUSIVE] = function;
}

static double cost_in_file(const struct database *db, uint32_t node, size_t metric, enum cost_part part)
{
    const struct nodes *nodes = db->costs->nodes;
    enum metric_scope scope = node_cost_scope(nodes, node, part);
    bool has_sum = node != 0 || part != INCLUSIVE || nodes->position[0] != NOTHING;
    double sum = 0;
    if (is_stored(db, &db->metrics.at[metric], scope) && has_sum)
        return stored_cost(db, node, metric, scope);
    for (uint32_t entry = 1; !has_sum && entry < nodes->n; entry = nodes->end[entry])
        sum += cost_in_file(db, entry, metric, INCLUSIVE);
    if (!has_sum)
        return sum;
    double **columns = db->costs->completed + 2 * metrics_slot(&db->metrics, metric);
    if (!columns[part])
        complete(db, metric, columns);
    return columns[part][node];
}

/* ---- the folded tree ---- */

static double folded_cost(const struct database *db, uint32_t node, size_t metric, enum cost_part part)
{
    const struct fold *fold = db->fold;
    double sum = 0, added = 0;
    for (uint32_t t = fold->first_term[node]; t < fold->first_term[node + 1]; t++) {
        const struct fold_term *term = &fold->terms[t];
        double cost = fold_term_counts(term, part) ? cost_in_file(db, term->node, metric, part) : 0;
        sum += term->role == TERM_LEFT ? -cost : cost;
        added += term->role == TERM_LEFT ? 0 : cost;
    }
    return fabs(sum) <= ROUNDING * added ? 0 : sum;
}

/* ---- all together ---- */

double node_cost(const struct database *db, uint32_t node, size_t metric, enum cost_part part)
{
    const struct metrics *metrics = &db->metrics;
    const struct metric *of = &metrics->at[metric];
    if (metric_is_sum(of)) {
        const struct sum_parts *parts = &db->costs->parts[metric];
        double sum = 0;
        for (size_t i = 0; i < parts->n; i++)
            sum += node_cost(db, node, metrics_at_slot(metrics, parts->slots[i]), part);
        return sum;
    }
    if (!metric_is_measured(of))
        return 0;
    return db->fold ? folded_cost(db, node, metric, part) : cost_in_file(db, node, metric, part);
}

static void add_value(struct cost *cost, enum metric_scope scope, double value)
{
    *(scope == METRIC_EXECUTION ? &cost->inclusive : &cost->exclusive) += value;
}

/* Adds the values of a node that profile.db has. */
static void get_from_file(const struct database *db, uint32_t node, struct cost *costs)
{
    const struct nodes *nodes = db->costs->nodes;
    enum metric_scope exclusive = node_cost_scope(nodes, node, EXCLUSIVE);
    size_t n;
    const struct v4_metric_value *at =
        values_at(&db->values, nodes->position[node] == NOTHING ? NO_POSITION : nodes->position[node], &n);
    for (; n > 0; n--, at++) {
        if (at->metric_id >= db->costs->n_roles)
            continue;
        const struct value_role *role = &db->costs->roles[at->metric_id];
        if (role->scope != METRIC_EXECUTION && role->scope != exclusive)
            continue;
        if (!isfinite(at->value))
            problem_found(db->values.path, "corrupt: a value is not a number");
        else if (role->metric != METRIC_ABSENT)
            add_value(&costs[role->metric], (enum metric_scope)role->scope, at->value);
        if (isfinite(at->value) && role->sum != METRIC_ABSENT)
            add_value(&costs[role->sum], (enum metric_scope)role->scope, at->value);
    }
}

void node_costs_get(const struct database *db, uint32_t node, struct cost *costs)
{
    memset(costs, 0, db->metrics.n_stored * sizeof *costs);
    if (db->costs->are_whole && !db->costs->sums && !db->fold && node != 0) {
        get_from_file(db, node, costs);
        return;
    }
    for (size_t m = 0; m < db->metrics.n_stored; m++)
        costs[m] = (struct cost){node_cost(db, node, m, INCLUSIVE), node_cost(db, node, m, EXCLUSIVE)};
}

bool node_has_own_cost(const struct database *db, uint32_t node)
{
    bool has = false;
    for (size_t m = 0; m < db->metrics.n_stored && !has; m++)
        has = node_cost(db, node, m, EXCLUSIVE) != 0;
    return has;
}

/* ---- the trees of a database ---- */

void database_set_costs(struct database *db, struct node_costs *costs)
{
    assert(!db->fold);
    node_costs_free(db, db->costs);
    db->costs = costs;
}

void database_forget_nodes(struct database *db)
{
    database_set_costs(db, NULL);
    time_slice_free(db->slice);
    nodes_free(db->nodes);
    db->slice = NULL;
    db->nodes = NULL;
}

const struct nodes *database_nodes(struct database *db)
{
    if (!db->nodes && (db->nodes = nodes_read(db)))
        db->costs = node_costs_new(db);
    if (!db->nodes)
        return NULL;
    return db->fold ? db->fold->nodes : db->costs->nodes;
}
