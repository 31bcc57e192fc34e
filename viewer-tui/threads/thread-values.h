/* What scopes cost in each thread. */
#ifndef VIEWER_THREAD_VALUES_H
#define VIEWER_THREAD_VALUES_H

#include "viewer-tui/database/database.h"
#include "viewer-tui/threads/terms.h"

/* Whether the database has the values of threads of which such terms are made for a metric, or for
 * all metrics of which it is the sum. */
bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope);

/* Adds up the terms' values of a metric in every profile: by_profile[0 .. profiles_n - 1], that of
 * the summary stays 0. From cct.db where there is one, else from profile.db. Sorts the terms. False
 * when the user stopped it (progress.h). */
bool thread_values(const struct database *db, struct terms *terms, size_t metric,
                   double *by_profile);

#endif
