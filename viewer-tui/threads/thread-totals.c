#include "viewer-tui/threads/thread-totals.h"

#include "viewer-tui/base/distribution.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/metrics/derived.h"

#include <math.h>

/* Adds the inclusive costs of a context to a thread's totals; false if the thread does not have it. `left`: values that
 * may still be read: profiles of a damaged file can overlap. */
static bool add_context(const struct database *db, const struct values *values, uint32_t context, uint64_t *left,
                        double *totals)
{
    const struct metrics *metrics = &db->metrics;
    size_t n;
    uint64_t position = values_position(values, context, 0);
    const struct v4_metric_value *at = values_at(values, position, &n);
    for (; n > 0 && *left > 0; n--, at++) {
        (*left)--;
        for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++) {
            const struct metric *metric = &metrics->at[m];
            if (metric_ids(metric)->thread[METRIC_EXECUTION] != at->metric_id ||
                !isfinite(at->value))
                continue;
            if (m < metrics->n)
                totals[m] += at->value;
            if (metric_is_added(metric))
                totals[metric->sum] += at->value;
        }
    }
    return position != NO_POSITION;
}

/* Adds what the thread's records in the piece of time pay. */
static void add_records(const struct database *db, uint32_t profile, double *totals)
{
    const struct metrics *metrics = &db->metrics;
    struct slot_payment payments[RECORD_METRICS + 1];
    size_t n;
    const struct record_sum *sums = time_slice_records(db->slice, profile, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_there = time_slice_position(db->slice, db, &sums[i], 0) != NO_POSITION;
        size_t n_payments = is_there ? time_slice_payments(db->slice, &sums[i], payments) : 0;
        for (size_t p = 0; p < n_payments; p++) {
            size_t m = metrics_at_slot(metrics, payments[p].slot);
            if (m < metrics->n)
                totals[m] += payments[p].amount;
            if (metric_is_added(&metrics->at[m]))
                totals[metrics->at[m].sum] += payments[p].amount;
        }
    }
}

/* Adds the costs of the whole program, context 0; without it, those of the entry points. */
static void add_totals(const struct database *db, uint32_t number, uint64_t *left, double *totals)
{
    struct v4_profile profile = database_profile(db, number);
    struct values values;
    if (db->slice)
        add_records(db, number, totals);
    if (db->slice || !values_map(&values, &db->profile, &profile.values) || add_context(db, &values, 0, left, totals))
        return;
    for (uint32_t i = 0; i < db->entries.n; i++) {
        struct v4_entry entry;
        if (database_entry(db, i, &entry, NULL))
            add_context(db, &values, entry.context_id, left, totals);
    }
}

/* Threads have inclusive costs only. */
static void add_derived(const struct metrics *metrics, const struct cost *program, double *totals)
{
    autofree struct cost *costs = mem_alloc((metrics->n_stored + 1) * sizeof *costs);
    struct formula_input row = {.cost = formula_cost_in_array, .context = costs, .program = program};
    for (size_t m = 0; m < metrics->n_stored; m++)
        costs[m] = (struct cost){totals[m], NAN};
    for (size_t m = metrics->n_stored; m < metrics->n; m++)
        totals[m] = derived_value(metrics, m, row, INCLUSIVE);
}

/* Adds the statistics of a metric after the n threads. Only threads in which it is defined count. */
static void add_statistics(const struct metrics *metrics, size_t m, size_t n, double *totals)
{
    autofree double *values = mem_alloc((n + 1) * sizeof *values);
    bool is_defined = !metric_derivation(&metrics->at[m]);
    for (size_t i = 0; i < n; i++) {
        values[i] = totals[i * metrics->n + m];
        is_defined |= !isnan(values[i]);
    }
    struct distribution all = distribution_of(values, n);
    double *statistics = totals + n * metrics->n + m;
    statistics[SUM * metrics->n] = metric_is_additive(&metrics->at[m]) ? all.sum : NAN;
    statistics[LEAST * metrics->n] = is_defined ? all.min : NAN;
    statistics[MEAN * metrics->n] = is_defined ? all.mean : NAN;
    statistics[LARGEST * metrics->n] = is_defined ? all.max : NAN;
}

double *thread_totals(const struct threads *threads, const struct database *db)
{
    const struct metrics *metrics = &db->metrics;
    size_t n = threads->list.n;
    uint64_t left = db->profile.size / sizeof(struct v4_metric_value);
    double *totals = mem_alloc(((n + STATISTICS) * metrics->n + 1) * sizeof *totals);
    autofree struct cost *program = mem_alloc((metrics->n_stored + 1) * sizeof *program);
    node_costs_get(db, 0, program);
    for (size_t i = 0; i < n; i++) {
        add_totals(db, threads->list.at[i].profile, &left, totals + i * metrics->n);
        add_derived(metrics, program, totals + i * metrics->n);
    }
    for (size_t m = 0; m < metrics->n; m++)
        add_statistics(metrics, m, n, totals);
    return totals;
}
