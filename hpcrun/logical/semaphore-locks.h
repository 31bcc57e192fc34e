/* Any context. Semaphores that an interpreter uses as locks: which thread holds them.
 *
 * CPython up to 3.13 makes each lock of `threading` of a semaphore, which does not say who has taken it. The wrappers of
 * semaphores note it here, in one word (agents/semaphore-holders.h) of a table, by plain loads and stores:
 *
 *     after sem_trywait, sem_wait    semaphore_taken
 *     before sem_post                semaphore_released
 *     after sem_init                 semaphore_begins
 *
 * Only the thread itself writes its tid, and only while it holds the semaphore. So a store that another one overwrites
 * makes a holder unknown, and never a wrong one. A semaphore counts as a lock once the thread that took it has released
 * it, and no longer when another thread releases it, as a thread does that notifies a condition, or when a thread
 * waits for a semaphore that it holds itself. So the semaphores of Condition.wait and of 3.11's Thread.join have no
 * holder. Two semaphores may have the same word. The newer one gets it as soon as
 * the older one is free. */
#ifndef HPCRUN_LOGICAL_SEMAPHORE_LOCKS_H
#define HPCRUN_LOGICAL_SEMAPHORE_LOCKS_H

/* The calling thread has got it. */
void semaphore_taken(const volatile void *semaphore);

/* The calling thread is about to release it. */
void semaphore_released(const volatile void *semaphore);

/* The memory is that of a new semaphore. */
void semaphore_begins(const volatile void *semaphore);

/* The calling thread is about to wait for it. Returns what agent_slot.holder is meanwhile; NULL: it is no lock. While the
 * thread waits, it may turn out to be one. */
const void *semaphore_holder(const volatile void *semaphore);

#endif
