#include "viewer-tui/scaling/scaling-table.h"

#include <math.h>
#include <stdlib.h>

typedef VEC(double) value_list;

static const size_t places[] = {offsetof(struct run_values, work),
                                offsetof(struct run_values, overhead),
                                offsetof(struct run_values, idleness)};

static double value_at(const struct run_values *run, size_t place)
{
    return *(const double *)((const char *)run + place);
}

/* The median of a value in all runs with this number of workers that have it. `place` is the offset
 * of the value in a run. */
static struct median_interval median_of(const run_value_list *runs, unsigned workers, size_t place)
{
    value_list values = {0};
    for (size_t i = 0; i < runs->n; i++) {
        double value = value_at(&runs->at[i], place);
        if (runs->at[i].workers == workers && !isnan(value))
            vec_push(&values, value);
    }
    struct median_interval median = median_interval_of(values.at, values.n);
    vec_free(&values);
    return median;
}

static size_t count_runs(const run_value_list *runs, unsigned workers)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++)
        n += runs->at[i].workers == workers;
    return n;
}

static bool exceeds_cpus(const run_value_list *runs, unsigned workers)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].workers == workers && runs->at[i].cpus && workers > runs->at[i].cpus)
            return true;
    return false;
}

static void add_row(struct scaling_table *table, const run_value_list *runs, unsigned workers)
{
    struct scaling_row row = {
        .workers = workers,
        .n_runs = count_runs(runs, workers),
        .exceeds_cpus = exceeds_cpus(runs, workers),
        .time = median_of(runs, workers, offsetof(struct run_values, wall)),
        .work = median_of(runs, workers, places[0]).median,
        .overhead = median_of(runs, workers, places[1]).median,
        .idleness = median_of(runs, workers, places[2]).median,
    };
    vec_push(&table->rows, row);
}

static int by_workers(const void *left, const void *right)
{
    unsigned a = ((const struct scaling_row *)left)->workers;
    unsigned b = ((const struct scaling_row *)right)->workers;
    return (a > b) - (a < b);
}

static bool has_row(const struct scaling_table *table, unsigned workers)
{
    for (size_t i = 0; i < table->rows.n; i++)
        if (table->rows.at[i].workers == workers)
            return true;
    return false;
}

/* `one`: the row of one worker; NULL: there is none. */
static void add_speedups(struct scaling_row *row, const struct scaling_row *one, double baseline)
{
    double workers = row->workers, one_time = one ? one->time.median : NAN;
    double idleness = row->exceeds_cpus ? NAN : row->idleness;
    row->inflation = row->work - (one ? one->work : NAN);
    row->maximal = workers * baseline / one_time;
    row->idle_specific = workers * baseline / (one_time + idleness);
    row->inflation_specific = workers * baseline / (workers * row->time.median - idleness);
    row->actual = baseline / row->time.median;
}

struct scaling_table scaling_table_of(const run_value_list *runs)
{
    struct scaling_table table = {0};
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].workers && !has_row(&table, runs->at[i].workers))
            add_row(&table, runs, runs->at[i].workers);
    if (table.rows.n)
        qsort(table.rows.at, table.rows.n, sizeof *table.rows.at, by_workers);
    bool has_one = table.rows.n && table.rows.at[0].workers == 1;
    struct scaling_row one = has_one ? table.rows.at[0] : (struct scaling_row){0};
    table.n_serial = count_runs(runs, 0);
    table.serial = median_of(runs, 0, offsetof(struct run_values, wall));
    table.baseline = table.n_serial ? table.serial.median : has_one ? one.time.median : NAN;
    for (size_t i = 0; i < table.rows.n; i++)
        add_speedups(&table.rows.at[i], has_one ? &one : NULL, table.baseline);
    return table;
}

void scaling_table_free(struct scaling_table *table)
{
    vec_free(&table->rows);
}
