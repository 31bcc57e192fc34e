/* Any context. For each object that threads wait for, the threads that released it last: they unlocked the mutex,
 * signaled the condition, posted the semaphore, arrived last at the barrier or woke the futex.
 *
 * A wrapper that is about to do so, and sees that threads wait, notes it by a few stores in a table:
 *
 *     if (has_waiters(mutex))
 *         waker_note(mutex, WAKES_NEXT_HOLDER);
 *     return REAL(pthread_mutex_unlock)(mutex);
 *
 * A thread whose wait has ended asks for the waker of this object. An entry of an earlier time than the wait's
 * begin is of an earlier release, so the waker is unknown then. The thread that has a mutex is the only one that can
 * release it, so the last entry is right when the waiter has got the mutex. Signals of a condition, posts of a
 * semaphore and calls that wake one thread at a futex wake those first that wait first: a waiter takes the first entry
 * that no other has taken. If two wake up at the same time, the later one may be the first to ask: then each has the
 * other's waker. Of several unlocks of a lock that many read, within the time that a thread takes to wake up, the last
 * one counts. Objects share entries by a hash of their addresses: then the waker of one may be lost, but is never that
 * of another. */
#ifndef HPCRUN_LOGICAL_LAST_WAKERS_H
#define HPCRUN_LOGICAL_LAST_WAKERS_H

#include <stdbool.h>
#include <stdint.h>

/* Which waiters a release lets go: the one that gets the lock next, one of them, or all. */
enum wakes { WAKES_NEXT_HOLDER, WAKES_ONE, WAKES_ALL };

/* The calling thread is about to let go of the object. Returns ticks_now(). A call, so that wrappers without waiters do
 * next to nothing. */
uint64_t waker_note(const volatile void *object, enum wakes wakes);

/* The index of the thread that ended a wait for the object that began at `since`, and when it did, both ticks_now().
 * False if it is unknown. Asked once for each wait. */
bool waker_find(const volatile void *object, uint64_t since, uint32_t *thread, uint64_t *released);

#endif
