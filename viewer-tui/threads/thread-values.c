#include "viewer-tui/threads/thread-values.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ids of values ---- */

/* The ids of a metric's values in the threads, by scope; with several, it is a sum. */
struct thread_ids {
    size_t n;
    const struct metric_ids **of;
};

/* Whether a metric is a measured part of another one: of a sum, or the same. */
static bool is_part_of(const struct metrics *metrics, size_t m, size_t metric)
{
    const struct metric *from = &metrics->at[m];
    bool is_sum = metric_is_sum(&metrics->at[metric]);
    return metric_is_measured(from) && (is_sum ? metric_is_added(from) && (size_t)from->sum == metric : m == metric);
}

static struct thread_ids ids_of(const struct metrics *metrics, size_t metric)
{
    size_t n = metrics->n + metrics->n_hidden;
    struct thread_ids ids = {.of = mem_alloc((n + 1) * sizeof *ids.of)};
    for (size_t m = 0; m < n; m++)
        if (is_part_of(metrics, m, metric))
            ids.of[ids.n++] = metric_ids(&metrics->at[m]);
    return ids;
}

bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope)
{
    struct thread_ids ids = ids_of(&db->metrics, metric);
    bool exist = ids.n > 0;
    for (size_t m = 0; m < ids.n; m++)
        exist &= ids.of[m]->thread[scope] != METRIC_ABSENT;
    free(ids.of);
    return exist;
}

/* By metric id: a bit for each scope whose values have it. */
static uint8_t *scopes_of_ids(const struct database *db, size_t metric)
{
    uint8_t *scopes = mem_alloc(METRIC_IDS);
    struct thread_ids ids = ids_of(&db->metrics, metric);
    for (size_t m = 0; m < ids.n; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++)
            if (ids.of[m]->thread[scope] != METRIC_ABSENT)
                scopes[ids.of[m]->thread[scope]] |= (uint8_t)(1u << scope);
    free(ids.of);
    return scopes;
}

static int by_context(const void *left, const void *right)
{
    const struct value_ref *a = left, *b = right;
    return (a->context > b->context) - (a->context < b->context);
}

/* ---- sums ---- */

/* The end of the refs that have the same context as that at `from`. */
static size_t end_of_context(const struct value_refs *refs, size_t from)
{
    size_t end = from;
    while (end < refs->list.n && refs->list.at[end].context == refs->list.at[from].context)
        end++;
    return end;
}

/* Adds up a thread's values, which are at `position`, of the context of refs from..end - 1. */
static double sum_of_context(const struct value_refs *refs, size_t from, size_t end, const uint8_t *scopes_of,
                             const struct values *values, uint64_t position)
{
    double by_scope[METRIC_SCOPES] = {0}, sum = 0;
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    if (n > METRIC_IDS) {
        problem_found(values->path, "corrupt: the values of context %u", refs->list.at[from].context);
        return 0;
    }
    for (; n > 0; n--, at++) {
        unsigned scopes = scopes_of[at->metric_id];
        if (scopes && !isfinite(at->value))
            problem_found(values->path, "corrupt: a value is not a number");
        for (int scope = 0; scopes && scope < METRIC_SCOPES && isfinite(at->value); scope++)
            if (scopes >> scope & 1)
                by_scope[scope] += at->value;
    }
    for (size_t i = from; i < end; i++) {
        const struct value_ref *ref = &refs->list.at[i];
        sum += ref->is_subtracted ? -by_scope[ref->scope] : by_scope[ref->scope];
    }
    return sum;
}

/* Both the refs and the contexts of the thread are ascending. */
static double sum_in_thread(const struct value_refs *refs, const uint8_t *scopes_of, const struct values *values)
{
    double sum = 0;
    uint64_t near = 0;
    for (size_t from = 0, end; from < refs->list.n; from = end) {
        uint64_t position = values_position(values, refs->list.at[from].context, near);
        end = end_of_context(refs, from);
        if (position == NO_POSITION)
            continue;
        near = position;
        sum += sum_of_context(refs, from, end, scopes_of, values, position);
    }
    return sum;
}

/* ---- a piece of time ---- */

/* How often refs have what is paid at a node, by the scope of the values that have it. */
struct scope_weights {
    int of[METRIC_SCOPES];
};

/* The weights of a node: those of its own values, `listed`, and of the values of `around` that include what is below it:
 * METRIC_EXECUTION has all of that, METRIC_FUNCTION no calls, METRIC_LEX_AWARE of a loop neither calls nor inner loops. Of
 * what is no loop, METRIC_LEX_AWARE is METRIC_FUNCTION. */
static struct scope_weights weights_at(const struct nodes *nodes, uint32_t node, const struct scope_weights *around,
                                       const struct scope_weights *listed)
{
    bool is_loop = nodes->kind[node] == KIND_LOOP, is_lexical = is_lexical_kind(nodes->kind[node]);
    struct scope_weights weights = *listed;
    if (!is_loop) {
        weights.of[METRIC_FUNCTION] += weights.of[METRIC_LEX_AWARE];
        weights.of[METRIC_LEX_AWARE] = is_lexical ? around->of[METRIC_LEX_AWARE] : 0;
    }
    weights.of[METRIC_FUNCTION] += is_lexical ? around->of[METRIC_FUNCTION] : 0;
    weights.of[METRIC_EXECUTION] += around->of[METRIC_EXECUTION];
    return weights;
}

/* By position, how often each value is listed. The caller frees. */
static struct scope_weights *count_refs(const struct database *db, const struct value_refs *refs)
{
    struct scope_weights *listed = mem_alloc((db->values.n_index + 1) * sizeof *listed);
    uint64_t near = 0;
    for (size_t i = 0; i < refs->list.n; i++) {
        const struct value_ref *ref = &refs->list.at[i];
        uint64_t position = values_position(&db->values, ref->context, near);
        if (position == NO_POSITION)
            continue;
        near = position;
        listed[position].of[ref->scope] += ref->is_subtracted ? -1 : 1;
    }
    return listed;
}

/* By place, how often the refs have what is paid there. One pass: recursion nests values as deep as it is. The caller
 * frees. */
static int *weights_of_places(const struct database *db, const struct value_refs *refs)
{
    static const struct scope_weights none;
    const struct nodes *nodes = db->nodes;
    uint64_t n_places = db->slice->timeline->header.n_places;
    autofree int *of_contexts = mem_alloc((db->values.n_index + 1) * sizeof *of_contexts); /* by position */
    autofree struct scope_weights *listed = count_refs(db, refs), *weights = mem_alloc(nodes->n * sizeof *weights);
    int *of_places = mem_alloc((n_places + 1) * sizeof *of_places);
    for (uint32_t node = 0; node < nodes->n; node++) {
        uint32_t position = nodes->position[node];
        weights[node] = weights_at(nodes, node, node ? &weights[nodes->parent[node]] : &none,
                                   position == NOTHING ? &none : &listed[position]);
        for (int scope = 0; scope < METRIC_SCOPES && position != NOTHING; scope++)
            of_contexts[position] += weights[node].of[scope];
    }
    for (uint32_t place = 0; place < n_places; place++) {
        uint64_t position = time_slice_position(db->slice, db, &(struct record_sum){.place = place}, 0);
        of_places[place] = position == NO_POSITION ? 0 : of_contexts[position];
    }
    return of_places;
}

static void values_in_slice(const struct database *db, const struct value_refs *refs, size_t metric, double *by_profile)
{
    const struct metrics *metrics = &db->metrics;
    uint32_t n_profiles = database_n_profiles(db);
    autofree int *weights = weights_of_places(db, refs);
    for (uint32_t number = 1; number < n_profiles && progress_at(number); number++) {
        size_t n;
        const struct record_sum *sums = time_slice_records(db->slice, number, &n);
        for (size_t i = 0; i < n; i++) {
            struct slot_payment payments[RECORD_METRICS + 1];
            size_t n_payments = weights[sums[i].place] ? time_slice_payments(db->slice, &sums[i], payments) : 0;
            for (size_t p = 0; p < n_payments; p++)
                if (is_part_of(metrics, metrics_at_slot(metrics, payments[p].slot), metric))
                    by_profile[number] += weights[sums[i].place] * payments[p].amount;
        }
    }
}

enum outcome thread_values(const struct database *db, struct value_refs *refs, size_t metric, double *by_profile)
{
    uint32_t n = database_n_profiles(db);
    autofree uint8_t *scopes_of = scopes_of_ids(db, metric);
    memset(by_profile, 0, n * sizeof *by_profile);
    vec_sort(&refs->list, by_context);
    progress_begin("adding up threads", n);
    if (db->slice)
        values_in_slice(db, refs, metric, by_profile);
    for (uint32_t number = 1; !db->slice && number < n && progress_at(number); number++) {
        struct v4_profile profile = database_profile(db, number);
        struct values values;
        if (!profile_is_summary(&profile) && values_map(&values, &db->profile, &profile.values))
            by_profile[number] = sum_in_thread(refs, scopes_of, &values);
    }
    return progress_end();
}
