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
    threads_read(&costs->threads, view->db, run);
    thread_set_keep(set, &costs->threads, view->metrics);
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

/* Values that are being read; they replace the previous ones if that is not stopped. */
struct cost_reader {
    const struct thread_costs *costs;
    struct value_refs refs[2]; /* by part */
    double *by_profile;
    const char *why;
};

/* Why the values of a metric cannot be added up per thread; NULL if they can. */
static const char *obstacle(const struct cost_reader *reader, size_t metric, enum cost_part part)
{
    const struct database *db = reader->costs->view->db;
    const struct value_refs *refs = &reader->refs[part];
    if (!metric_is_measured(&db->metrics.at[metric]))
        return db->metrics.at[metric].why;
    if (metric_derivation(&db->metrics.at[metric]))
        return "it is derived: sort by what was measured; formulas have thread_max and the like";
    for (size_t i = 0; i < refs->list.n; i++)
        if (!thread_values_exist(db, metric, (enum metric_scope)refs->list.at[i].scope))
            return "the database does not tell it by thread";
    return NULL;
}

/* Reads the values of a stored metric; if there are none, they are 0, and reader->why says why. */
static enum outcome read_stored(struct cost_reader *reader, size_t metric, enum cost_part part,
                                double *values)
{
    const struct threads *threads = &reader->costs->threads;
    reader->why = obstacle(reader, metric, part);
    if (!reader->why && thread_values(reader->costs->view->db, &reader->refs[part], metric,
                                      reader->by_profile) == STOPPED)
        return STOPPED;
    for (size_t i = 0; i < threads->list.n; i++)
        values[i] = reader->why ? 0 : reader->by_profile[threads->list.at[i].profile];
    return DONE;
}

/* Computes a derived metric per thread, from all stored metrics. */
static enum outcome read_derived(struct cost_reader *reader, size_t metric, enum cost_part part,
                                 double *values)
{
    const struct view *view = reader->costs->view;
    size_t n = reader->costs->threads.list.n, n_metrics = view->n_metrics;
    struct cost *costs = mem_alloc((n * n_metrics + 1) * sizeof *costs);
    const char *why = NULL;
    enum outcome outcome = DONE;
    for (size_t m = 0; m < n_metrics && outcome == DONE && !why; m++) {
        if (!metric_is_measured(&view->metrics->at[m]))
            continue;
        outcome = read_stored(reader, m, INCLUSIVE, values);
        for (size_t i = 0; i < n && outcome == DONE; i++)
            costs[i * n_metrics + m].inclusive = values[i];
        why = reader->why;
        if (outcome == DONE)
            outcome = read_stored(reader, m, EXCLUSIVE, values);
        for (size_t i = 0; i < n && outcome == DONE; i++)
            costs[i * n_metrics + m].exclusive = values[i];
        why = why ? why : reader->why;
    }
    for (size_t i = 0; i < n && outcome == DONE; i++)
        values[i] = why ? 0 : view_value(view, costs + i * n_metrics, metric, part);
    reader->why = why;
    free(costs);
    return outcome;
}

static enum outcome read_values(struct cost_reader *reader, size_t metric, enum cost_part part,
                                double *values)
{
    struct view *view = reader->costs->view;
    bool is_derived = metric >= view->n_metrics;
    if (!metric_is_measured(&view->metrics->at[metric])) {
        reader->why = view->metrics->at[metric].why;
        return DONE;
    }
    for (int p = 0; p < 2; p++)
        if ((is_derived || p == (int)part) &&
            view_value_refs(view, reader->costs->row, (enum cost_part)p, &reader->refs[p]) != DONE)
            return STOPPED;
    return is_derived ? read_derived(reader, metric, part, values)
                      : read_stored(reader, metric, part, values);
}

/* The distribution of the defined values. */
static struct distribution distribution_of_defined(const double *values, size_t n)
{
    double *defined = mem_alloc((n + 1) * sizeof *defined);
    size_t n_defined = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            defined[n_defined++] = values[i];
    struct distribution distribution = distribution_of(defined, n_defined);
    free(defined);
    return distribution;
}

enum outcome thread_costs_read(struct thread_costs *costs, size_t metric, enum cost_part part)
{
    size_t n = costs->threads.list.n;
    struct cost_reader reader = {.costs = costs};
    double *values = mem_alloc((n + 1) * sizeof *values);
    reader.by_profile = mem_alloc((database_n_profiles(costs->view->db) + 1) * sizeof(double));
    enum outcome outcome = read_values(&reader, metric, part, values);
    if (outcome == DONE) {
        memcpy(costs->values, values, n * sizeof *values);
        costs->why = reader.why;
        costs->metric = metric;
        costs->part = part;
        costs->distribution = distribution_of_defined(values, n);
    }
    free(values);
    free(reader.by_profile);
    vec_free(&reader.refs[INCLUSIVE].list);
    vec_free(&reader.refs[EXCLUSIVE].list);
    return outcome;
}

/* Arguments of the comparison of threads. */
struct ordering {
    const struct thread_costs *costs;
    enum thread_order by;
    bool is_reversed;
};

/* Descending order, undefined values last. */
static int compare_values(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static int compare(const void *left, const void *right, void *context)
{
    const struct ordering *ordering = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double value_a = ordering->costs->values[a], value_b = ordering->costs->values[b];
    int result = 0;
    if (ordering->by == BY_VALUE)
        result = compare_values(value_a, value_b);
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
