/* Directed blame, after Tallent, Mellor-Crummey and Porterfield, PPoPP 2010: a sample of the thread that has a lock pays
 * for the threads that wait for it, whatever runtimes they work for.
 *
 * A thread that waits leaves in its slot (agents/agent-slots.h) the lock's address and that of its holder's tid. glibc
 * keeps this tid in every mutex and in every rwlock that a writer holds, so nothing is recorded when such a lock is taken
 * or released. Readers of an rwlock and holders of spin locks are not known to the lock: hpcrun's wrappers note in the
 * slot of each thread which of these it has, and in a table which thread has a semaphore that an interpreter uses as a
 * lock. Readers share the blame: each pays for every n-th of its samples if n have the lock. */
#ifndef HPCRUN_LOGICAL_LOCK_WAITERS_H
#define HPCRUN_LOGICAL_LOCK_WAITERS_H

#include "hpcrun/logical/agent-query.h"

struct lock_waiters {
    uint32_t count;
    uint64_t turn; /* 1 + what agent_lock.turns says, if they wait for such a lock; else 0 */
};

/* Signal handler. Adds `amount`, in the event's unit, to the slots of the threads that wait for locks of the sampled
 * thread `tid`, whose slot is own_slot. Returns the number of those that were charged: those that do not wait any more,
 * or are paid already (agent_slot.unpaid), are not. The memory of a lock is read through `memory`: it may be gone.
 * `query`: of the sampled thread, after the agents were asked for its path. */
struct lock_waiters lock_waiters_charge(struct memory *memory, int tid, const struct agent_query *query, unsigned event,
                                        uint64_t amount);

#endif
