#include "viewer-tui/tree/thread-statistics.h"

#include <math.h>
#include <stdlib.h>

/* The distributions of a metric; NANs if they are unknown. */
struct known {
    size_t metric;
    struct distribution distributions[2]; /* of each part */
};

struct known_of_row {
    VEC(struct known) list;
};

struct thread_statistics {
    const struct database *db;
    value_refs_of_rows *refs;
    void *context; /* of refs */
    bool are_stopped;
    VEC(struct known_of_row) rows; /* by row; those beyond have none */
};

struct thread_statistics *thread_statistics_new(const struct database *db, value_refs_of_rows *refs, void *context)
{
    struct thread_statistics *statistics = mem_alloc(sizeof *statistics);
    statistics->db = db;
    statistics->refs = refs;
    statistics->context = context;
    return statistics;
}

void thread_statistics_stop(struct thread_statistics *statistics)
{
    statistics->are_stopped = true;
}

void thread_statistics_resume(struct thread_statistics *statistics)
{
    statistics->are_stopped = false;
}

bool thread_statistics_are_stopped(const struct thread_statistics *statistics)
{
    return statistics->are_stopped;
}

void thread_statistics_forget(struct thread_statistics *statistics, uint32_t first)
{
    while (statistics->rows.n > first) {
        statistics->rows.n--;
        vec_free(&statistics->rows.at[statistics->rows.n].list);
    }
}

void thread_statistics_free(struct thread_statistics *statistics)
{
    thread_statistics_forget(statistics, 0);
    vec_free(&statistics->rows);
    free(statistics);
}

static const struct distribution unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static struct known *find(const struct thread_statistics *statistics, uint32_t row, size_t metric)
{
    if (row >= statistics->rows.n)
        return NULL;
    const struct known_of_row *known = &statistics->rows.at[row];
    for (size_t i = 0; i < known->list.n; i++)
        if (known->list.at[i].metric == metric)
            return &known->list.at[i];
    return NULL;
}

/* Removes the refs of rows of which the database lacks a value, and notes that they are unknown. */
static void remove_unknown(const struct database *db, struct value_refs *refs, size_t metric, bool *is_unknown)
{
    bool exists[METRIC_SCOPES];
    size_t n = 0;
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        exists[scope] = thread_values_exist(db, metric, (enum metric_scope)scope);
    for (size_t i = 0; i < refs->list.n; i++)
        is_unknown[refs->list.at[i].row] |= !exists[refs->list.at[i].scope];
    for (size_t i = 0; i < refs->list.n; i++)
        if (!is_unknown[refs->list.at[i].row])
            refs->list.at[n++] = refs->list.at[i];
    refs->list.n = n;
}

/* Finds the distributions of both parts of rows: that of rows[i] becomes distributions[n * part + i]. */
static enum outcome find_distributions(const struct thread_statistics *statistics, const uint32_t *rows, uint32_t n,
                                       size_t metric, struct distribution *distributions)
{
    struct value_refs refs = {0};
    bool *is_unknown = mem_alloc(2 * (size_t)n + 1);
    enum outcome outcome = statistics->refs(statistics->context, rows, n, INCLUSIVE, &refs);
    size_t n_inclusive = refs.list.n;
    if (outcome == DONE)
        outcome = statistics->refs(statistics->context, rows, n, EXCLUSIVE, &refs);
    for (size_t i = n_inclusive; i < refs.list.n; i++)
        refs.list.at[i].row += n;
    if (outcome == DONE) {
        remove_unknown(statistics->db, &refs, metric, is_unknown);
        outcome = thread_distributions(statistics->db, &refs, metric, 2 * n, distributions);
    }
    for (uint32_t i = 0; i < 2 * n; i++)
        if (outcome != DONE || is_unknown[i])
            distributions[i] = unknown;
    free(is_unknown);
    vec_free(&refs.list);
    return outcome;
}

enum outcome thread_statistics_gather(struct thread_statistics *statistics, const uint32_t *rows,
                                      size_t n, size_t metric)
{
    VEC(uint32_t) new = {0};
    for (size_t i = 0; i < n; i++)
        if (!find(statistics, rows[i], metric))
            vec_push(&new, rows[i]);
    uint32_t n_new = (uint32_t)new.n;
    struct distribution *found = mem_alloc((2 * new.n + 1) * sizeof *found);
    enum outcome outcome = statistics->are_stopped ? STOPPED : DONE;
    if (n_new && outcome == DONE)
        outcome = find_distributions(statistics, new.at, n_new, metric, found);
    for (uint32_t i = 0; i < n_new && outcome != STOPPED; i++) {
        while (statistics->rows.n <= new.at[i])
            vec_push(&statistics->rows, (struct known_of_row){0});
        vec_push(&statistics->rows.at[new.at[i]].list, ((struct known){metric, {found[i], found[n_new + i]}}));
    }
    free(found);
    vec_free(&new);
    statistics->are_stopped = outcome == STOPPED;
    return outcome == STOPPED ? STOPPED : DONE;
}

double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which)
{
    const struct known *known = find(statistics, row, metric);
    if (!known && thread_statistics_gather(statistics, &row, 1, metric) == DONE)
        known = find(statistics, row, metric);
    const struct distribution *distribution = known ? &known->distributions[part] : &unknown;
    switch (which) {
    case THREAD_MIN: return distribution->min;
    case THREAD_MEAN: return distribution->mean;
    case THREAD_MAX: return distribution->max;
    case THREAD_DEVIATION: return distribution->stddev;
    case NO_STATISTIC: break;
    }
    return NAN;
}
