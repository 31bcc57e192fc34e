/* Values of threads in the pieces of time to which the database is restricted (db->slice): sums of their records. */
#ifndef VIEWER_SLICE_VALUES_H
#define VIEWER_SLICE_VALUES_H

#include "viewer-tui/threads/thread-values.h"

/* Does what thread_values does. */
enum outcome slice_values(const struct database *db, const struct value_refs *refs, size_t metric, double *by_profile);

/* Adds what the whole program cost in a thread, by index of metrics that are shown. */
void slice_totals(const struct database *db, uint32_t profile, double *totals);

#endif
