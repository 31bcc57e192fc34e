/* The view of threads that wait for a lock: who waited where, for which lock.
 *
 * A sample of the lock's holder charges the holder with `lock wait`, and leaves the same amount in
 * the slot of one of the threads that wait (agents/agent.h), each in turn. At the end of its wait,
 * this thread adds the amounts to `lock delay`, at its own call path and below it at the lock. So a wait that no sample
 * saw costs nothing, and both metrics have the same sum, but for waits that never end. */
#ifndef HPCRUN_SAMPLE_LOCK_DELAY_H
#define HPCRUN_SAMPLE_LOCK_DELAY_H

#include "hpcrun/logical/wait-slots.h"

/* Normal context, in a wrapper, after wait_end. errno stays. */
void lock_delay_record(struct agent_slot *slot, const volatile void *lock);

#endif
