/* Restricts the values of a database to some threads. */
#ifndef VIEWER_RESTRICT_H
#define VIEWER_RESTRICT_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-set.h"

/* Makes all values sums over the threads of the set; NULL: over all, as hpcprof added them up.
 * Contexts without samples of these threads then have no values: database_leaves_out. Takes one
 * pass over the values of the threads, and memory for their sums.
 *
 * Positions of values change: free the tree (context-table.h) and all views first. Unless DONE,
 * nothing has changed. */
enum outcome database_restrict(struct database *db, const struct thread_set *set);

#endif
