#include "viewer-tui/tree/thread-statistics.h"

#include "viewer-tui/threads/row-distributions.h"
#include "viewer-tui/threads/thread-values.h"

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
    value_refs_of_row *refs;
    void *context; /* of refs */
    bool are_stopped;
    VEC(struct known_of_row) rows; /* by row; those beyond have none */
};

struct thread_statistics *thread_statistics_new(const struct database *db, value_refs_of_row *refs,
                                                void *context)
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

static bool are_told(const struct database *db, const struct value_refs *refs, size_t metric)
{
    for (size_t i = 0; i < refs->list.n; i++)
        if (!thread_values_exist(db, metric, (enum metric_scope)refs->list.at[i].scope))
            return false;
    return true;
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

static void remember(struct thread_statistics *statistics, uint32_t row, size_t metric)
{
    while (statistics->rows.n <= row)
        vec_push(&statistics->rows, (struct known_of_row){0});
    vec_push(&statistics->rows.at[row].list, (struct known){metric, {unknown, unknown}});
}

/* A part of a row whose distribution is being found, in one pass with others. */
struct gathered {
    uint32_t row;
    enum cost_part part;
};

struct gathering {
    VEC(uint32_t) rows; /* of which nothing is known yet */
    VEC(struct gathered) parts;
    struct row_value_refs row_refs; /* of these */
};

/* Adds a part of a row to the pass, unless it cannot be known. */
static enum outcome add_part(const struct thread_statistics *statistics,
                             struct gathering *gathering, size_t metric, uint32_t row,
                             enum cost_part part)
{
    struct value_refs refs = {0};
    enum outcome outcome = statistics->refs(statistics->context, row, part, &refs);
    if (outcome == DONE && are_told(statistics->db, &refs, metric)) {
        row_value_refs_add(&gathering->row_refs, (uint32_t)gathering->parts.n, &refs);
        vec_push(&gathering->parts, (struct gathered){row, part});
    }
    vec_free(&refs.list);
    return outcome;
}

/* Finds the distributions of what is gathered of new rows; remembers all of these. */
static enum outcome find_spreads(struct thread_statistics *statistics, struct gathering *gathering,
                                 size_t metric)
{
    uint32_t n = (uint32_t)gathering->parts.n;
    struct distribution *distributions = mem_alloc((n + 1) * sizeof *distributions);
    enum outcome outcome = DONE;
    if (n)
        outcome = row_distributions(statistics->db, &gathering->row_refs, metric, n, distributions);
    for (size_t i = 0; i < gathering->rows.n && outcome == DONE; i++)
        remember(statistics, gathering->rows.at[i], metric);
    for (uint32_t i = 0; i < n && outcome == DONE; i++) {
        const struct gathered *gathered = &gathering->parts.at[i];
        find(statistics, gathered->row, metric)->distributions[gathered->part] = distributions[i];
    }
    free(distributions);
    return outcome;
}

enum outcome thread_statistics_gather(struct thread_statistics *statistics, const uint32_t *rows,
                                      size_t n, size_t metric)
{
    struct gathering gathering = {0};
    enum outcome outcome = statistics->are_stopped ? STOPPED : DONE;
    for (size_t i = 0; i < n && outcome == DONE; i++) {
        if (find(statistics, rows[i], metric))
            continue;
        for (int part = INCLUSIVE; part <= EXCLUSIVE && statistics->db && outcome == DONE; part++)
            outcome = add_part(statistics, &gathering, metric, rows[i], (enum cost_part)part);
        vec_push(&gathering.rows, rows[i]);
    }
    if (outcome == DONE)
        outcome = find_spreads(statistics, &gathering, metric);
    vec_free(&gathering.rows);
    vec_free(&gathering.parts);
    vec_free(&gathering.row_refs.list);
    statistics->are_stopped = outcome != DONE;
    return outcome;
}

static const struct distribution *distribution_of_row(struct thread_statistics *statistics,
                                                      uint32_t row, size_t metric,
                                                      enum cost_part part)
{
    const struct known *known = find(statistics, row, metric);
    if (!known && thread_statistics_gather(statistics, &row, 1, metric) == DONE)
        known = find(statistics, row, metric);
    return known ? &known->distributions[part] : &unknown;
}

double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which)
{
    const struct distribution *distribution = distribution_of_row(statistics, row, metric, part);
    switch (which) {
    case THREAD_MIN: return distribution->min;
    case THREAD_MEAN: return distribution->mean;
    case THREAD_MAX: return distribution->max;
    case THREAD_DEVIATION: return distribution->stddev;
    case NO_STATISTIC: break;
    }
    return NAN;
}
