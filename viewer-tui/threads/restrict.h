/* Which threads the values of a database are sums over. */
#ifndef VIEWER_RESTRICT_H
#define VIEWER_RESTRICT_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-set.h"

/* From now on all values are sums over the threads of the set; NULL: over all, as hpcprof added
 * them up. Contexts to which none of them came have no values then: database_leaves_out. Takes one
 * pass over the values of these threads, and memory for their sums.
 *
 * Positions of values change: trees (context-table.h) and views made before must be freed. DONE, STOPPED
 * or FAILED; unless DONE, nothing has changed. */
enum outcome database_restrict(struct database *db, const struct thread_set *set);

#endif
