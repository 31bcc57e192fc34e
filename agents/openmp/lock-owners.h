/* Normal context. Reports which thread ends a wait for a lock or a critical section of libomp (agent-slots.h): the last
 * one that had it.
 *
 * OMPT says when a thread is about to take a lock, and when it has it, but not whether that is free; it says that a
 * lock is released after others may have it. A look at the clock takes 10 to 20 ns, a free lock 60. So a thread looks
 * only if another one had the lock last. A table has that, by a hash of the lock's address. Where locks share an entry,
 * a thread takes it for another lock in one of 256 times only: so programs with very many locks write little to it, and
 * those that are used most are in it. */
#ifndef AGENTS_LOCK_OWNERS_H
#define AGENTS_LOCK_OWNERS_H

#include "agents/common/thread-slots.h"

/* Two threads may write it at the same time. The key says whether `thread` is the one of the lock, as in
 * hpcrun/logical/last-wakers.c. */
struct lock_owner {
    _Atomic uint64_t key;    /* exclusive or of the lock and `thread`; 0: it is free */
    _Atomic uint64_t thread; /* agent_slot.thread */
};

static inline struct lock_owner *lock_owner_of(uint64_t lock)
{
    enum { BITS = 10 };
    static struct lock_owner owners[1 << BITS];
    return &owners[lock * 0x9e3779b97f4a7c15u >> (64 - BITS)];
}

/* The thread that had the lock last; 0: unknown. */
static inline uint64_t last_owner(const struct lock_owner *owner, uint64_t lock)
{
    uint64_t key = atomic_load_explicit(&owner->key, memory_order_relaxed);
    uint64_t thread = atomic_load_explicit(&owner->thread, memory_order_relaxed);
    return (key ^ thread) == lock ? thread : 0;
}

/* The thread is about to take the lock. */
static inline void lock_wanted(struct agent_slot *slot, uint64_t lock)
{
    uint64_t last = last_owner(lock_owner_of(lock), lock);
    slot->ompt.arrived = last && last != slot->thread ? let_go(NULL) : 0;
}

/* The thread has it. */
static inline void lock_taken(struct agent_slot *slot, uint64_t lock)
{
    struct lock_owner *owner = lock_owner_of(lock);
    uint64_t self = atomic_load_explicit(&slot->thread, memory_order_relaxed), last = last_owner(owner, lock);
    if (slot->ompt.arrived && last)
        woken_by(last, slot->ompt.arrived);
    slot->ompt.arrived = 0;
    bool is_others = !last && atomic_load_explicit(&owner->key, memory_order_relaxed);
    if (last == self || (is_others && ++slot->ompt.locks % 256))
        return;
    atomic_store_explicit(&owner->thread, self, memory_order_relaxed);
    atomic_store_explicit(&owner->key, lock ^ self, memory_order_relaxed);
}

#endif
