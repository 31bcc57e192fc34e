#include "viewer-tui/views/thread-costs.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/database/place.h"
#include "viewer-tui/database/profiles.h"
#include "viewer-tui/database/thread-label.h"
#include "viewer-tui/database/thread-values.h"

#include <stdlib.h>
#include <string.h>

void thread_costs_open(struct thread_costs *costs, struct view *view, uint32_t row,
                       const json_t *run, const struct thread_set *set, bool ascii)
{
    *costs = (struct thread_costs){.view = view, .row = row};
    threads_read(&costs->threads, view->db, run);
    thread_set_keep(set, &costs->threads, view->metrics);
    size_t n = costs->threads.list.n;
    bool hosts_differ = place_hosts_differ(run);
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

/* Why the values of a metric that are to be added up cannot be, or NULL. */
static const char *obstacle(const struct thread_costs *costs, const struct terms *terms,
                            size_t metric)
{
    const struct database *db = costs->view->db;
    if (!metric_is_measured(&db->metrics.at[metric]))
        return db->metrics.at[metric].why;
    for (size_t i = 0; i < terms->list.n; i++)
        if (!thread_values_exist(db, metric, (enum metric_scope)terms->list.at[i].scope))
            return "the database does not tell it by thread";
    return NULL;
}

/* Takes the threads' values from those of all profiles. */
static void take_values(struct thread_costs *costs, const double *by_profile)
{
    size_t n = costs->threads.list.n;
    for (size_t i = 0; i < n; i++)
        costs->values[i] = by_profile ? by_profile[costs->threads.list.at[i].profile] : 0;
    costs->spread = spread_of(costs->values, n);
}

bool thread_costs_read(struct thread_costs *costs, size_t metric, enum cost_part part)
{
    struct terms terms = {0};
    bool is_done = view_terms(costs->view, costs->row, part, &terms);
    const char *why = is_done ? obstacle(costs, &terms, metric) : NULL;
    double *by_profile = NULL;
    if (is_done && !why) {
        by_profile = mem_alloc((profiles_n(costs->view->db) + 1) * sizeof *by_profile);
        is_done = thread_values(costs->view->db, &terms, metric, by_profile);
    }
    if (is_done) {
        costs->why = why;
        costs->metric = metric;
        costs->part = part;
        take_values(costs, by_profile);
    }
    free(by_profile);
    vec_free(&terms.list);
    return is_done;
}

/* How threads are compared. */
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
    if (ordering->by == BY_VALUE)
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
