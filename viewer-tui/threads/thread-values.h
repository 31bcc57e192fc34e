/* What rows cost in each thread. */
#ifndef VIEWER_THREAD_VALUES_H
#define VIEWER_THREAD_VALUES_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"

/* A value of which the cost of a row is the sum: one per context that the row stands for. If recursion is collapsed
 * (fold.h), some of them are subtracted. Views list them (view_value_refs). */
struct value_ref {
    uint32_t context; /* id in the database */
    uint32_t scope : 31; /* enum metric_scope: which of the context's values */
    uint32_t is_subtracted : 1;
};

/* A zeroed one is empty; the owner frees it with vec_free(&refs.list). */
struct value_refs {
    VEC(struct value_ref) list;
};

/* Whether the database has the threads' values of that scope for a metric, or for all parts of a sum. */
bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope);

/* Adds up the values of a metric in every profile: by_profile[0 .. database_n_profiles - 1], 0 for the summary.
 * Sorts the refs. DONE or STOPPED. */
enum outcome thread_values(const struct database *db, struct value_refs *refs, size_t metric, double *by_profile);

#endif
