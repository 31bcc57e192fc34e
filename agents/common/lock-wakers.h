/* Normal context. Waits for locks and critical sections of OpenMP: which thread has the lock, and which one ends a wait
 * (agent-slots.h).
 *
 * A look at the clock takes 10 to 20 ns, as long as to take a lock that is free. So a thread looks only when it waits,
 * and when it releases a lock for which others may wait. Their number is in a table, by a hash of the lock's address:
 * two locks that share an entry cost more while threads wait for one of them. */
#ifndef AGENTS_LOCK_WAKERS_H
#define AGENTS_LOCK_WAKERS_H

#include "agents/common/thread-slots.h"

static inline _Atomic uint32_t *lock_waiters(const void *lock)
{
    enum { BITS = 8 };
    static _Atomic uint32_t waiters[1 << BITS];
    return &waiters[(uint64_t)(uintptr_t)lock * 0x9e3779b97f4a7c15u >> (64 - BITS)];
}

/* The thread of the slot is about to wait for the lock. Returns the current time. */
static inline uint64_t lock_wait_begins(struct agent_slot *slot, const void *lock)
{
    slot_waits_for(slot, (uint64_t)(uintptr_t)lock);
    atomic_fetch_add_explicit(lock_waiters(lock), 1, memory_order_relaxed);
    return let_go(NULL);
}

/* It has got the lock, for which it has waited since then. `name`: that of hpctoolkit_waited_for_lock. */
static inline void lock_wait_ended(struct agent_slot *slot, const void *lock, const char *name, uint64_t since)
{
    atomic_fetch_sub_explicit(lock_waiters(lock), 1, memory_order_relaxed);
    has_waited(lock, since);
    slot_has_lock(slot, lock, name);
}

/* The thread is about to release the lock. */
static inline void lock_released(const void *lock)
{
    held_forget(slot_own(), lock);
    if (__builtin_expect(atomic_load_explicit(lock_waiters(lock), memory_order_relaxed) != 0, 0))
        let_go(lock);
}

#endif
