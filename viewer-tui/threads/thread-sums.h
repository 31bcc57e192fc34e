/* Sums over some of the threads, in place of those over all that hpcprof stored. */
#ifndef VIEWER_THREAD_SUMS_H
#define VIEWER_THREAD_SUMS_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-set.h"

/* Makes what nodes cost sums over the threads of the set; NULL: over all. The tree then has only the nodes where they
 * ran. Takes a pass over the values of the threads, and memory for their sums.
 *
 * The database must not be folded, and views made before must not be used any more. Unless DONE, nothing has changed. */
enum outcome database_restrict(struct database *db, const struct thread_set *set);

#endif
