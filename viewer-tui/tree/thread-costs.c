#include "viewer-tui/tree/thread-costs.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/threads/thread-values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void thread_costs_open(struct thread_costs *costs, struct view *view, uint32_t row,
                       const json_t *run, const struct thread_set *set, bool ascii)
{
    *costs = (struct thread_costs){.view = view, .row = row};
    threads_read(&costs->threads, view->db, run, false);
    thread_set_keep(set, &costs->threads);
    size_t n = costs->threads.list.n;
    bool hosts_differ = run_hosts_differ(run);
    costs->labels = mem_alloc((n + 1) * sizeof *costs->labels);
    costs->values = mem_alloc((n + 1) * sizeof *costs->values);
    costs->order = mem_alloc((n + 1) * sizeof *costs->order);
    for (size_t i = 0; i < n; i++) {
        struct text label = {0};
        thread_label(&costs->threads.list.at[i], hosts_differ, ascii, &label);
        text_add(&label, "");
        costs->labels[i] = label.at;
        costs->order[i] = i;
    }
}

void thread_costs_free(struct thread_costs *costs)
{
    for (size_t i = 0; i < costs->threads.list.n; i++)
        free(costs->labels[i]);
    free(costs->labels);
    free(costs->values);
    free(costs->order);
    threads_free(&costs->threads);
}

/* Values that are being read. */
struct cost_reader {
    const struct thread_costs *costs;
    double **known;  /* by 2 * metric + part: the row's cost in each profile; NULL: not read yet */
    const char *why; /* reason why a metric has none */
    enum outcome outcome;
};

/* A thread whose costs are wanted. */
struct cost_thread {
    struct cost_reader *reader;
    uint32_t profile;
};

/* Why the values of a stored metric cannot be added up per thread; NULL if they can. */
static const char *obstacle(const struct database *db, const struct value_refs *refs, size_t metric)
{
    if (!metric_is_measured(&db->metrics.at[metric]))
        return db->metrics.at[metric].why;
    for (size_t i = 0; i < refs->list.n; i++)
        if (!thread_values_exist(db, metric, (enum metric_scope)refs->list.at[i].scope))
            return "the database does not tell it by thread";
    return NULL;
}

/* Reads a stored metric in all threads; 0 if there are no values. */
static double *read_metric(struct cost_reader *reader, size_t metric, enum cost_part part)
{
    struct view *view = reader->costs->view;
    autofree struct value_refs refs = {0};
    double *values = mem_alloc((database_n_profiles(view->db) + 1) * sizeof *values);
    enum outcome outcome = view_value_refs(view, reader->costs->row, part, &refs);
    const char *why = obstacle(view->db, &refs, metric);
    if (outcome == DONE && !why)
        outcome = thread_values(view->db, &refs, metric, values);
    if (outcome != DONE)
        reader->outcome = STOPPED;
    reader->why = why ? why : reader->why;
    return values;
}

static double cost_in_thread(const void *context, size_t metric, enum cost_part part)
{
    const struct cost_thread *of = context;
    double **known = &of->reader->known[2 * metric + part];
    if (!*known)
        *known = read_metric(of->reader, metric, part);
    return (*known)[of->profile];
}

/* Reads or computes a metric in each thread of the list. */
static void read_values(struct cost_reader *reader, size_t metric, enum cost_part part, double *values)
{
    const struct thread_costs *costs = reader->costs;
    const struct view *view = costs->view;
    if (!metric_is_measured(&view->metrics->at[metric]))
        reader->why = view->metrics->at[metric].why;
    for (size_t i = 0; i < costs->threads.list.n && !reader->why && reader->outcome == DONE; i++) {
        struct cost_thread of = {reader, costs->threads.list.at[i].profile};
        values[i] = view_value(view, cost_in_thread, &of, metric, part);
    }
    for (size_t i = 0; i < costs->threads.list.n && reader->why; i++)
        values[i] = 0;
}

enum outcome thread_costs_read(struct thread_costs *costs, size_t metric, enum cost_part part)
{
    size_t n = costs->threads.list.n, n_columns = 2 * costs->view->metrics->n_stored;
    struct cost_reader reader = {.costs = costs, .known = mem_alloc((n_columns + 1) * sizeof *reader.known)};
    autofree double *values = mem_alloc((n + 1) * sizeof *values);
    read_values(&reader, metric, part, values);
    if (reader.outcome == DONE) {
        memcpy(costs->values, values, n * sizeof *values);
        costs->why = reader.why;
        costs->metric = metric;
        costs->part = part;
        costs->distribution = distribution_of(values, n);
    }
    for (size_t i = 0; i < n_columns; i++)
        free(reader.known[i]);
    free(reader.known);
    return reader.outcome;
}

/* Arguments of the comparison of threads. */
struct ordering {
    const struct thread_costs *costs;
    enum thread_order by;
    bool is_reversed;
};

static int compare(const void *left, const void *right, void *context)
{
    const struct ordering *ordering = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double value_a = ordering->costs->values[a], value_b = ordering->costs->values[b];
    int result = 0;
    if (ordering->by == BY_VALUE && (isnan(value_a) || isnan(value_b))) /* undefined ones last */
        result = isnan(value_a) - isnan(value_b);
    else if (ordering->by == BY_VALUE)
        result = (value_a < value_b) - (value_a > value_b);
    else if (ordering->by == BY_LABEL)
        result = strcmp(ordering->costs->labels[a], ordering->costs->labels[b]);
    if (result == 0)
        result = (a > b) - (a < b);
    return ordering->is_reversed ? -result : result;
}

void thread_costs_sort(struct thread_costs *costs, enum thread_order by, bool is_reversed)
{
    struct ordering ordering = {costs, by, is_reversed};
    qsort_r(costs->order, costs->threads.list.n, sizeof *costs->order, compare, &ordering);
}
