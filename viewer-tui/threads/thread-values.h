/* What rows cost in each thread. */
#ifndef VIEWER_THREAD_VALUES_H
#define VIEWER_THREAD_VALUES_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/value-refs.h"

/* The metric ids whose values are added up, by scope. */
struct thread_ids {
    VEC(int) of[METRIC_SCOPES];
};

/* The ids of a metric's values in the threads; the caller frees. */
struct thread_ids thread_ids_of(const struct metrics *metrics, size_t metric);
void thread_ids_free(struct thread_ids *ids);

/* Whether the database has the threads' values of that scope for a metric, or for all parts of a
 * sum. */
bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope);

/* Adds up the referenced values of a metric in every profile: by_profile[0 .. database_n_profiles -
 * 1], 0 for the summary. Reads cct.db if it exists, else profile.db. Sorts the refs. DONE or
 * STOPPED. */
enum outcome thread_values(const struct database *db, struct value_refs *refs, size_t metric,
                           double *by_profile);

#endif
