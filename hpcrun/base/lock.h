/* A lock for short sections of normal context. The holder is in a section of ours, so none of its
 * handlers can try to take the lock. A waiting thread sleeps: if it has a real-time priority and
 * spins or yields, it could keep the holder from the CPU for ever. */
#ifndef HPCRUN_BASE_LOCK_H
#define HPCRUN_BASE_LOCK_H

#include "hpcrun/base/own-section.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>

struct lock {
    _Atomic int state;
};

enum { LOCK_FREE, LOCK_HELD, LOCK_WAITED_FOR };

/* Without a section of ours, which costs two system calls: for locks that no handler takes, neither
 * ours nor one of the program. */
static inline void lock_enter(struct lock *lock)
{
    int state = LOCK_FREE;
    if (atomic_compare_exchange_strong(&lock->state, &state, LOCK_HELD))
        return;
    while (atomic_exchange(&lock->state, LOCK_WAITED_FOR) != LOCK_FREE)
        sys4(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, LOCK_WAITED_FOR, NULL);
}

static inline void lock_leave(struct lock *lock)
{
    if (atomic_exchange(&lock->state, LOCK_FREE) == LOCK_WAITED_FOR)
        sys3(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1);
}

/* Whether the lock is free. */
static inline bool lock_is_free(const struct lock *lock)
{
    return atomic_load(&lock->state) == LOCK_FREE;
}

/* Returns the mask to restore. */
static inline uint64_t lock_take(struct lock *lock)
{
    uint64_t mask = own_section_begin();
    lock_enter(lock);
    return mask;
}

static inline void lock_release(struct lock *lock, uint64_t mask)
{
    lock_leave(lock);
    own_section_end(mask);
}

#endif
