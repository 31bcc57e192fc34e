/* An estimate of how much longer waits make a run, by its time line.
 *
 * A thread that waits while others work delays its own work after that. So the waits at a place are taken to cost
 *
 *   - the time in which threads wait there and no thread works or is ready, and
 *   - the work of these threads, each thread's no more than it waits there: others could work meanwhile.
 *
 * Example: a thread without work looks for messages every 10 ms, for as long as the program runs. To sleep less gains
 * nothing, but for its last sleep, if the main thread has ended its work and waits for the thread.
 *
 * A thread that both works and waits for events (epoll_wait) counts as one that works all the time: its clients are served
 * no sooner if other threads wait less. Example: memcached, where one thread sleeps between searches for old entries
 * while others wait for requests.
 *
 * This is no bound, since the time line does not say who waits for whom:
 *
 *   - Too little: thread A sleeps and C waits for A, while B works. C's work after that is delayed, too.
 *   - Too little: a thread that spins counts as one that works, and one whose events are from a thread that sleeps.
 *   - Too much: A sleeps until B has computed what A then works on. Without the sleep, A has to wait for B. */
#ifndef VIEWER_LONE_WAITS_H
#define VIEWER_LONE_WAITS_H

#include "viewer-tui/advice/time-places.h"
#include "viewer-tui/db/timeline.h"

/* Less waiting, as a share of the wall clock, is not reported. */
#define LEAST_WAIT_OF_WALL 0.05

/* Sets `saved` of the places where threads wait for `least` seconds or more, and a wait may be a cause (WAIT_LOCK ...).
 * `db`: that of the places, the logical projection. */
void lone_waits_find(struct time_places *places, double least, struct database *db, const struct timeline *timeline);

#endif
