#include "viewer-tui/threads/thread-values.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/cct-file.h"
#include "viewer-tui/db/database.h"

#include <math.h>
#include <stdlib.h>

struct summation {
    const struct database *db;
    const struct value_refs *refs;
    struct thread_ids ids;
    uint32_t n_profiles;
    double *by_profile;
};

/* Whether a metric's values are the other one's: they are one metric, or that is a sum with this
 * part. */
static bool contributes(const struct metrics *metrics, size_t from, size_t to)
{
    const struct metric *metric = &metrics->at[from];
    if (metric_is_sum(&metrics->at[to]))
        return metric_is_added(metric) && (size_t)metric->sum == to;
    return from == to;
}

bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope)
{
    const struct metrics *metrics = &db->metrics;
    bool has_any = false;
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++) {
        const struct metric *from = &metrics->at[m];
        if (!contributes(metrics, m, metric) || !metric_is_measured(from))
            continue;
        if (metric_ids(from)->thread[scope] == METRIC_ABSENT)
            return false;
        has_any = true;
    }
    return has_any;
}

struct thread_ids thread_ids_of(const struct metrics *metrics, size_t metric)
{
    struct thread_ids ids = {0};
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++)
            if (contributes(metrics, m, metric) &&
                metric_ids(&metrics->at[m])->thread[scope] != METRIC_ABSENT)
                vec_push(&ids.of[scope], metrics->at[m].ids.thread[scope]);
    return ids;
}

void thread_ids_free(struct thread_ids *ids)
{
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        vec_free(&ids->of[scope]);
}

static void add(struct summation *summation, const struct value_ref *ref, uint32_t profile,
                double value, const char *path)
{
    if (!isfinite(value))
        problem_found(path, "corrupt: a value is not a number");
    else if (profile > 0 && profile < summation->n_profiles)
        summation->by_profile[profile] += ref->is_subtracted ? -value : value;
}

static void add_from_cct(struct summation *summation, const struct cct_file *file)
{
    for (size_t t = 0; t < summation->refs->list.n && progress_at(t); t++) {
        const struct value_ref *ref = &summation->refs->list.at[t];
        for (size_t i = 0; i < summation->ids.of[ref->scope].n; i++) {
            size_t n;
            const struct v4_profile_value *at = cct_file_values(
                file, ref->context, summation->ids.of[ref->scope].at[i], summation->n_profiles, &n);
            for (; n > 0; n--, at++)
                add(summation, ref, at->profile, at->value, file->map.path);
        }
    }
}

/* A valid context has at most one value per metric id. */
#define MOST_VALUES 65536

static bool has_id(const struct thread_ids *ids, enum metric_scope scope, int id)
{
    for (size_t i = 0; i < ids->of[scope].n; i++)
        if (ids->of[scope].at[i] == id)
            return true;
    return false;
}

/* Refs and contexts are ascending, so one pass over both is enough. */
static void add_profile(struct summation *summation, uint32_t number, const struct values *values)
{
    uint64_t near = 0;
    size_t n_value_refs = summation->refs->list.n;
    for (size_t t = 0; t < n_value_refs && progress_at((number - 1) * (uint64_t)n_value_refs + t);
         t++) {
        const struct value_ref *ref = &summation->refs->list.at[t];
        uint64_t position = values_position(values, ref->context, near);
        size_t n;
        const struct v4_metric_value *at = values_at(values, position, &n);
        if (position != NO_POSITION)
            near = position;
        if (n > MOST_VALUES) {
            problem_found(values->path, "corrupt: the values of context %u", ref->context);
            continue;
        }
        for (; n > 0; n--, at++)
            if (has_id(&summation->ids, ref->scope, at->metric_id))
                add(summation, ref, number, at->value, values->path);
    }
}

static void add_from_profiles(struct summation *summation)
{
    for (uint32_t number = 1; number < summation->n_profiles; number++) {
        struct v4_profile profile = database_profile(summation->db, number);
        struct values values;
        if (!profile_is_summary(&profile) &&
            values_map(&values, &summation->db->profile, &profile.values))
            add_profile(summation, number, &values);
    }
}

static int compare_value_refs(const void *left, const void *right)
{
    const struct value_ref *a = left, *b = right;
    return (a->context > b->context) - (a->context < b->context);
}

enum outcome thread_values(const struct database *db, struct value_refs *refs, size_t metric,
                           double *by_profile)
{
    struct summation summation = {.db = db,
                                  .refs = refs,
                                  .ids = thread_ids_of(&db->metrics, metric),
                                  .n_profiles = database_n_profiles(db),
                                  .by_profile = by_profile};
    struct cct_file file;
    for (uint32_t i = 0; i < summation.n_profiles; i++)
        by_profile[i] = 0;
    if (refs->list.n)
        qsort(refs->list.at, refs->list.n, sizeof *refs->list.at, compare_value_refs);
    bool has_file = cct_file_open(&file, db->folder);
    progress_begin("adding up threads",
                   refs->list.n * (has_file ? UINT64_C(1) : summation.n_profiles));
    if (has_file)
        add_from_cct(&summation, &file);
    else
        add_from_profiles(&summation);
    cct_file_close(&file);
    thread_ids_free(&summation.ids);
    return progress_end();
}
