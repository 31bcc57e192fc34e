/* Any context. Locks that an agent has described (struct agent_lock): the wrappers of condition variables and of
 * semaphores recognize them. */
#ifndef HPCRUN_LOGICAL_AGENT_LOCKS_H
#define HPCRUN_LOGICAL_AGENT_LOCKS_H

#include "agents/agent.h"

#include <stdatomic.h>

/* An interpreter's lock; NULL: there is none. */
extern _Atomic(const struct agent_lock *) agent_lock;

/* The lock that a thread waits for at this condition variable; NULL: none. */
static inline const struct agent_lock *agent_lock_at(const volatile void *condition)
{
    const struct agent_lock *lock = atomic_load_explicit(&agent_lock, memory_order_acquire);
    return lock && lock->condition == (uint64_t)(uintptr_t)condition ? lock : NULL;
}

/* Whether the caller of a wrapper is the interpreter, whose semaphores may be locks. */
static inline bool agent_lock_is_user(const void *caller)
{
    const struct agent_lock *lock = atomic_load_explicit(&agent_lock, memory_order_acquire);
    return __builtin_expect(lock != NULL, 0) && (uint64_t)(uintptr_t)caller - lock->code_start < lock->code_size;
}

#endif
