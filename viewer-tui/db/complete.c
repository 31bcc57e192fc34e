#include "viewer-tui/db/complete.h"

#include "viewer-tui/db/context-table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The costs of one metric in every context, by number in the tree. */
struct columns {
    double *own; /* of the context alone */
    double *inclusive;
    double *function; /* own costs and those of loops, lines and instructions below */
    double *no_loops; /* the same without loops */
};

/* A value for the new table. */
struct addition {
    uint32_t context; /* number in the tree */
    struct v4_metric_value value;
};

struct completion {
    struct database *db;
    struct cct *cct;
    struct columns columns;
    VEC(struct addition) additions;
    bool *id_is_used, *id_is_new; /* by metric id */
};

#define METRIC_IDS 65536

static uint64_t position_of(const struct completion *completion, uint32_t context)
{
    uint32_t position = completion->cct->position[context];
    return position == NOTHING ? NO_POSITION : position;
}

/* Whether a context is a part of the scope around it, as opposed to being called from there. */
static bool is_lexical(enum scope_kind kind)
{
    return kind == KIND_LOOP || kind == KIND_STATEMENT || kind == KIND_INSTRUCTION;
}

/* The scope from which a context's own costs are computed. `point` comes last: HPCToolkit omits
 * instructions and their costs from databases, so that points add up to too little. */
static enum metric_scope basis_of(const struct metric *metric)
{
    if (metric->ids.summary[METRIC_EXECUTION] != METRIC_ABSENT)
        return METRIC_EXECUTION;
    if (metric->ids.summary[METRIC_FUNCTION] != METRIC_ABSENT)
        return METRIC_FUNCTION;
    return METRIC_POINT;
}

/* Differences of sums below this share of the sums are rounding errors. */
#define ROUNDING 1e-12

/* Fills columns.own: a context's costs minus those of the contexts below that they include. */
static void find_own_costs(struct completion *completion, const struct metric *metric)
{
    const struct values *values = &completion->db->values;
    const struct cct *cct = completion->cct;
    double *own = completion->columns.own, *whole = completion->columns.inclusive;
    enum metric_scope basis = basis_of(metric);
    for (uint32_t c = 0; c < cct->n; c++)
        own[c] = whole[c] =
            values_get(values, position_of(completion, c), metric->ids.summary[basis]);
    for (uint32_t c = 1; c < cct->n && basis != METRIC_POINT; c++)
        if (basis == METRIC_EXECUTION || is_lexical(cct->kind[c]))
            own[cct->parent[c]] -= whole[c];
    if (position_of(completion, 0) == NO_POSITION)
        own[0] = 0;
    for (uint32_t c = 0; c < cct->n; c++)
        if (fabs(own[c]) <= ROUNDING * fabs(whole[c]))
            own[c] = 0;
}

static void propagate(struct completion *completion)
{
    const struct cct *cct = completion->cct;
    struct columns *columns = &completion->columns;
    size_t size = cct->n * sizeof *columns->own;
    memcpy(columns->inclusive, columns->own, size);
    memcpy(columns->function, columns->own, size);
    memcpy(columns->no_loops, columns->own, size);
    for (uint32_t c = cct->n - 1; c > 0; c--) {
        uint32_t parent = cct->parent[c];
        columns->inclusive[parent] += columns->inclusive[c];
        if (!is_lexical(cct->kind[c]))
            continue;
        columns->function[parent] += columns->function[c];
        if (cct->kind[c] != KIND_LOOP)
            columns->no_loops[parent] += columns->no_loops[c];
    }
}

static int unused_id(struct completion *completion)
{
    for (int id = 0; id < METRIC_IDS; id++)
        if (!completion->id_is_used[id]) {
            completion->id_is_used[id] = true;
            completion->id_is_new[id] = true;
            return id;
        }
    return METRIC_ABSENT;
}

/* Adds a scope that the metric lacks. */
static void add_scope(struct completion *completion, struct metric *metric, enum metric_scope scope,
                      const double *column)
{
    if (metric->ids.summary[scope] != METRIC_ABSENT)
        return;
    int id = metric->ids.summary[scope] = unused_id(completion);
    for (uint32_t c = 0; c < completion->cct->n && id != METRIC_ABSENT; c++) {
        struct v4_metric_value value = {.metric_id = (uint16_t)id, .value = column[c]};
        if (column[c] != 0)
            vec_push(&completion->additions, (struct addition){c, value});
    }
}

static void complete_metric(struct completion *completion, struct metric *metric)
{
    const struct columns *columns = &completion->columns;
    find_own_costs(completion, metric);
    propagate(completion);
    add_scope(completion, metric, METRIC_EXECUTION, columns->inclusive);
    add_scope(completion, metric, METRIC_FUNCTION, columns->function);
    add_scope(completion, metric, METRIC_LEX_AWARE, columns->no_loops);
}

/* Appends the values in the file, except for ids that are given to new scopes: such an id may also
 * be that of a metric that is not shown. */
static void keep_values(struct completion *completion)
{
    const struct values *values = &completion->db->values;
    for (uint32_t c = 0; c < completion->cct->n; c++) {
        size_t n;
        const struct v4_metric_value *at = values_at(values, position_of(completion, c), &n);
        for (; n > 0; n--, at++)
            if (!completion->id_is_new[at->metric_id])
                vec_push(&completion->additions, (struct addition){c, *at});
    }
}

struct numbered_context {
    uint32_t id, number;
};

static int compare_ids(const void *left, const void *right)
{
    const struct numbered_context *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Makes a table of the additions: values grouped by context, contexts sorted by id. */
static void replace_table(struct completion *completion)
{
    const struct cct *cct = completion->cct;
    uint64_t n_values = completion->additions.n;
    struct numbered_context *order = mem_alloc(cct->n * sizeof *order);
    uint64_t *next = mem_alloc(cct->n * sizeof *next); /* first counts, then where values go */
    struct v4_context_index *index = mem_alloc(cct->n * sizeof *index);
    struct v4_metric_value *table = mem_alloc((n_values + 1) * sizeof *table);
    for (uint32_t c = 0; c < cct->n; c++)
        order[c] = (struct numbered_context){cct->id[c], c};
    qsort(order, cct->n, sizeof *order, compare_ids);
    for (size_t i = 0; i < n_values; i++)
        next[completion->additions.at[i].context]++;
    uint64_t start = 0, n_index = 0;
    for (uint32_t i = 0; i < cct->n; i++) {
        uint64_t count = next[order[i].number];
        if (count)
            index[n_index++] = (struct v4_context_index){order[i].id, start};
        next[order[i].number] = start;
        start += count;
    }
    for (size_t i = 0; i < n_values; i++) {
        const struct addition *addition = &completion->additions.at[i];
        table[next[addition->context]++] = addition->value;
    }
    values_replace(&completion->db->values, index, n_index, table, n_values);
    free(order);
    free(next);
}

static void mark_used_ids(struct completion *completion)
{
    const struct metrics *metrics = &completion->db->metrics;
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++)
            if (metric_ids(&metrics->at[m])->summary[scope] != METRIC_ABSENT)
                completion->id_is_used[metrics->at[m].ids.summary[scope]] = true;
}

static void complete(struct database *db, struct cct *cct)
{
    struct completion completion = {.db = db, .cct = cct};
    size_t n = completion.cct->n;
    completion.columns.own = mem_alloc(n * sizeof(double));
    completion.columns.inclusive = mem_alloc(n * sizeof(double));
    completion.columns.function = mem_alloc(n * sizeof(double));
    completion.columns.no_loops = mem_alloc(n * sizeof(double));
    completion.id_is_used = mem_alloc(METRIC_IDS);
    completion.id_is_new = mem_alloc(METRIC_IDS);
    mark_used_ids(&completion);
    for (size_t m = 0; m < db->metrics.n + db->metrics.n_hidden; m++)
        if (metric_is_measured(&db->metrics.at[m]) && !metric_is_complete(&db->metrics.at[m]))
            complete_metric(&completion, &db->metrics.at[m]);
    keep_values(&completion);
    replace_table(&completion);
    values_set_metrics(&db->values, &db->metrics);
    free(completion.columns.own);
    free(completion.columns.inclusive);
    free(completion.columns.function);
    free(completion.columns.no_loops);
    free(completion.id_is_used);
    free(completion.id_is_new);
    vec_free(&completion.additions);
}

static bool is_complete(const struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        if (metric_is_measured(&metrics->at[m]) && !metric_is_complete(&metrics->at[m]))
            return false;
    return true;
}

enum outcome complete_values(struct database *db)
{
    if (is_complete(&db->metrics))
        return DONE;
    struct cct *cct = cct_read(db);
    if (cct)
        complete(db, cct);
    cct_free(cct);
    return cct ? DONE : STOPPED;
}
