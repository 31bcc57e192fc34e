/* Sums over some of the threads, or over a piece of time, in place of those over the whole run that hpcprof stored. */
#ifndef VIEWER_THREAD_SUMS_H
#define VIEWER_THREAD_SUMS_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/threads/thread-set.h"

/* Makes what nodes cost sums over the threads of the set (NULL: all) in a piece of time (NULL: all). The tree then has
 * only the nodes where they ran. Takes a pass over the values or records of the threads, and memory for their sums.
 *
 * The database must not be folded, and views made before must not be used any more. Unless DONE, nothing has
 * changed. Takes ownership of the slice. */
enum outcome database_restrict(struct database *db, const struct thread_set *set, struct time_slice *slice);

#endif
