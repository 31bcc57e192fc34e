#include "viewer-tui/views/thread-statistics.h"

#include "viewer-tui/base/spread.h"
#include "viewer-tui/database/profiles.h"
#include "viewer-tui/threads/thread-values.h"
#include "viewer-tui/views/view.h"

#include <math.h>
#include <stdlib.h>

/* What is known of one part of a metric; a `spread` of NANs where it cannot be. */
struct known {
    size_t metric;
    enum cost_part part;
    struct spread spread;
};

struct known_of_row {
    VEC(struct known) list;
};

struct thread_statistics {
    struct view *view;
    VEC(struct known_of_row) rows; /* by row; those beyond have none */
};

struct thread_statistics *thread_statistics_new(struct view *view)
{
    struct thread_statistics *statistics = mem_alloc(sizeof *statistics);
    statistics->view = view;
    return statistics;
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

/* The values of the threads that count, at the beginning of `values`; how many they are. */
static size_t keep_threads(const struct database *db, double *values)
{
    size_t n = 0;
    uint32_t n_profiles = profiles_n(db);
    for (uint32_t number = 1; number < n_profiles; number++) {
        struct v4_profile profile = profiles_at(db, number);
        bool counts = !db->has_profile || db->has_profile[number];
        if (counts && !profile_is_summary(&profile))
            values[n++] = values[number];
    }
    return n;
}

static bool are_told(const struct database *db, const struct terms *terms, size_t metric)
{
    for (size_t i = 0; i < terms->list.n; i++)
        if (!thread_values_exist(db, metric, (enum metric_scope)terms->list.at[i].scope))
            return false;
    return true;
}

static const struct spread unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* False when the user stopped it. */
static bool compute(struct view *view, uint32_t row, size_t metric, enum cost_part part,
                    struct spread *spread)
{
    *spread = unknown;
    if (!view->db)
        return true;
    struct terms terms = {0};
    bool is_done = view_terms(view, row, part, &terms);
    if (is_done && are_told(view->db, &terms, metric)) {
        double *values = mem_alloc((profiles_n(view->db) + 1) * sizeof *values);
        is_done = thread_values(view->db, &terms, metric, values);
        if (is_done)
            *spread = spread_of(values, keep_threads(view->db, values));
        free(values);
    }
    vec_free(&terms.list);
    return is_done;
}

/* What the user stopped is not begun again until there is another sorting. */
static const struct spread *find(struct thread_statistics *statistics, uint32_t row, size_t metric,
                                 enum cost_part part)
{
    struct view *view = statistics->view;
    while (statistics->rows.n <= row)
        vec_push(&statistics->rows, (struct known_of_row){0});
    struct known_of_row *known = &statistics->rows.at[row];
    size_t i = 0;
    while (i < known->list.n &&
           (known->list.at[i].metric != metric || known->list.at[i].part != part))
        i++;
    if (i == known->list.n) {
        struct spread spread;
        if (view->stopped_sorting == view->sorting_number)
            return &unknown;
        if (!compute(view, row, metric, part, &spread)) {
            view->stopped_sorting = view->sorting_number;
            return &unknown;
        }
        vec_push(&known->list, (struct known){metric, part, spread});
    }
    return &known->list.at[i].spread;
}

double thread_statistics_value(struct thread_statistics *statistics, uint32_t row, size_t metric,
                               enum cost_part part, enum formula_statistic which)
{
    const struct spread *spread = find(statistics, row, metric, part);
    switch (which) {
    case THREAD_MIN: return spread->least;
    case THREAD_MEAN: return spread->mean;
    case THREAD_MAX: return spread->largest;
    case THREAD_DEVIATION: return spread->deviation;
    case NO_STATISTIC: break;
    }
    return NAN;
}
