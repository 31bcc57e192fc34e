/* What the whole run tells of locks. In a piece of time only the sum of the waiting is known (METRIC_LOCK_BLAME), and
 * not for which lock and where threads wait. */
#ifndef VIEWER_LOCKS_OF_RUN_H
#define VIEWER_LOCKS_OF_RUN_H

#include "viewer-tui/advice/time-places.h"

/* The procedure that stands for the lock (is_name_of_lock) with nearly all waiting of the run, by an event such as
 * " (REALTIME)"; NOTHING if there is none. Adds the lines of the user's own at which threads wait for locks, without
 * times. */
uint32_t locks_of_run_find(const struct view *view, const char *event, struct time_places *waits);

#endif
