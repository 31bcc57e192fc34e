/* Any context. For each object that threads wait for, the thread that released it last: it unlocked the mutex,
 * signaled the condition, posted the semaphore, arrived last at the barrier or woke the futex.
 *
 * A wrapper that is about to do so, and sees that threads wait, notes it by a few stores in a table:
 *
 *     if (has_waiters(mutex))
 *         waker_note(mutex);
 *     return REAL(pthread_mutex_unlock)(mutex);
 *
 * A thread whose wait has ended asks for the waker of this object. An entry of an earlier time than the wait's
 * begin is of an earlier release, so the waker is unknown then. The thread that has a mutex is the only one that can
 * release it, so the entry is right when the waiter has got the mutex. Of several signals of a condition, posts of a
 * semaphore, arrivals at a barrier, or unlocks of a lock that many read, within the time that a thread takes to wake up,
 * the last one counts. Objects share entries by a hash of their addresses: then the waker of one may be lost, but is never
 * that of another. */
#ifndef HPCRUN_LOGICAL_LAST_WAKERS_H
#define HPCRUN_LOGICAL_LAST_WAKERS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread is about to let go of the object. Returns ticks_now(). A call, so that wrappers without waiters do next
 * to nothing. */
uint64_t waker_note(const volatile void *object);

/* The index of the thread that ended a wait for the object that began at `since`, and when it did, both ticks_now().
 * False if it is unknown. */
bool waker_find(const volatile void *object, uint64_t since, uint32_t *thread, uint64_t *released);

#endif
