#include "viewer-tui/threads/slice-values.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"

#include <stdlib.h>
#include <string.h>

/* ---- weights: how often a sum of values counts what a context costs by itself ---- */

/* One for each scope of a context's values. */
struct scope_counts {
    double of[METRIC_SCOPES];
};

/* By position: how often each value is listed. */
static struct scope_counts *count_refs(const struct database *db, const struct value_refs *refs)
{
    struct scope_counts *counts = mem_alloc((db->values.n_index + 1) * sizeof *counts);
    uint64_t near = 0;
    for (size_t i = 0; i < refs->list.n; i++) {
        const struct value_ref *ref = &refs->list.at[i];
        uint64_t position = values_position(&db->values, ref->context, near);
        if (position == NO_POSITION)
            continue;
        near = position;
        counts[position].of[ref->scope] += ref->is_subtracted ? -1 : 1;
    }
    return counts;
}

/* How often values count a node's own cost: its own values, and those above it that include it. Calls end the scope of a
 * function. Loops end that of a loop, whose METRIC_LEX_AWARE is without them; other contexts have the function's there. */
static struct scope_counts counts_at(const struct nodes *nodes, uint32_t node, const struct scope_counts *above,
                                     const struct scope_counts *own)
{
    bool is_lexical = is_lexical_kind(nodes->kind[node]), is_loop = nodes->kind[node] == KIND_LOOP;
    struct scope_counts counts = *own;
    counts.of[METRIC_EXECUTION] += above->of[METRIC_EXECUTION];
    counts.of[METRIC_FUNCTION] += (is_lexical ? above->of[METRIC_FUNCTION] : 0) + (is_loop ? 0 : own->of[METRIC_LEX_AWARE]);
    counts.of[METRIC_LEX_AWARE] =
        (is_lexical && !is_loop ? above->of[METRIC_LEX_AWARE] : 0) + (is_loop ? own->of[METRIC_LEX_AWARE] : 0);
    return counts;
}

/* By position. */
static double *weights_of_contexts(const struct database *db, const struct value_refs *refs)
{
    static const struct scope_counts none;
    const struct nodes *nodes = db->nodes;
    double *weights = mem_alloc((db->values.n_index + 1) * sizeof *weights);
    struct scope_counts *listed = count_refs(db, refs), *counts = mem_alloc(nodes->n * sizeof *counts);
    for (uint32_t node = 0; node < nodes->n; node++) {
        uint32_t position = nodes->position[node];
        const struct scope_counts *own = position == NOTHING ? &none : &listed[position];
        counts[node] = counts_at(nodes, node, node ? &counts[nodes->parent[node]] : &none, own);
        for (int scope = 0; scope < METRIC_SCOPES && position != NOTHING; scope++)
            weights[position] += counts[node].of[scope];
    }
    free(listed);
    free(counts);
    return weights;
}

/* By place of the time line. */
static double *weights_of_places(const struct database *db, const struct value_refs *refs)
{
    const struct time_slice *slice = db->slice;
    double *weights = mem_alloc((slice->timeline->header.n_places + 1) * sizeof *weights);
    double *of_contexts = weights_of_contexts(db, refs);
    for (uint64_t place = 0; place < slice->timeline->header.n_places; place++)
        if (slice->positions[place] != NO_POSITION)
            weights[place] = of_contexts[slice->positions[place]];
    free(of_contexts);
    return weights;
}

/* ---- values ---- */

/* By slot: whether it is the metric, or a part of it. */
static bool *slots_of(const struct metrics *metrics, size_t metric)
{
    bool *are_parts = mem_alloc(metrics->n_stored + metrics->n_hidden + 1);
    for (size_t slot = 0; slot < metrics->n_stored + metrics->n_hidden; slot++) {
        size_t index = metrics_at_slot(metrics, slot);
        const struct metric *of = &metrics->at[index];
        bool is_part = metric_is_added(of) && (size_t)of->sum == metric;
        are_parts[slot] = (index == metric || is_part) && metric_is_measured(of);
    }
    return are_parts;
}

static double value_of_thread(struct time_slice *slice, uint32_t profile, const double *weights, const bool *are_parts)
{
    double value = 0;
    const record_sum_list *sums = time_slice_sums(slice, profile);
    struct slot_payment payments[RECORD_METRICS + 1];
    for (size_t i = 0; i < sums->n; i++) {
        double weight = weights[sums->at[i].place];
        size_t n = weight != 0 ? time_slice_payments(slice, &sums->at[i], payments) : 0;
        for (size_t p = 0; p < n; p++)
            value += are_parts[payments[p].slot] ? weight * payments[p].amount : 0;
    }
    return value;
}

enum outcome slice_values(const struct database *db, const struct value_refs *refs, size_t metric, double *by_profile)
{
    uint32_t n = database_n_profiles(db);
    double *weights = weights_of_places(db, refs);
    bool *are_parts = slots_of(&db->metrics, metric);
    memset(by_profile, 0, n * sizeof *by_profile);
    progress_begin("adding up threads", n);
    for (uint32_t number = 1; number < n && progress_at(number); number++)
        by_profile[number] = value_of_thread(db->slice, number, weights, are_parts);
    free(weights);
    free(are_parts);
    return progress_end();
}

void slice_totals(const struct database *db, uint32_t profile, double *totals)
{
    const struct metrics *metrics = &db->metrics;
    struct time_slice *slice = db->slice;
    const record_sum_list *sums = time_slice_sums(slice, profile);
    struct slot_payment payments[RECORD_METRICS + 1];
    for (size_t i = 0; i < sums->n; i++) {
        bool is_there = slice->positions[sums->at[i].place] != NO_POSITION;
        size_t n = is_there ? time_slice_payments(slice, &sums->at[i], payments) : 0;
        for (size_t p = 0; p < n; p++) {
            size_t index = metrics_at_slot(metrics, payments[p].slot);
            if (index < metrics->n)
                totals[index] += payments[p].amount;
            if (metric_is_added(&metrics->at[index]))
                totals[metrics->at[index].sum] += payments[p].amount;
        }
    }
}
