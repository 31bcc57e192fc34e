/* The locks that a thread notes in its slot (agent_slot.held), since these do not say who has them: spin locks, rwlocks
 * that it has for reading, locks and critical sections of OpenMP. Its own samples read the notes, in its handler.
 *
 * A thread with more than AGENT_MAX_HELD of them at the same time is not known to have the others. */
#ifndef AGENTS_HELD_LOCKS_H
#define AGENTS_HELD_LOCKS_H

#include "agents/agent-slots.h"

#include <stdatomic.h>

/* Normal context. Replaces the first note `from` by `to`; 0 is none. `slot` is the calling thread's; it may be NULL. */
static inline void held_replace(struct agent_slot *slot, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; slot && i < AGENT_MAX_HELD; i++)
        if (atomic_load_explicit(&slot->held[i], memory_order_relaxed) == from) {
            atomic_store_explicit(&slot->held[i], to, memory_order_relaxed);
            break;
        }
}

/* Normal context. The calling thread has got the lock. */
static inline void held_note(struct agent_slot *slot, const volatile void *lock)
{
    held_replace(slot, 0, (uint64_t)(uintptr_t)lock);
}

/* Normal context. It is about to release the lock, which it may have got otherwise. */
static inline void held_forget(struct agent_slot *slot, const volatile void *lock)
{
    held_replace(slot, (uint64_t)(uintptr_t)lock, 0);
}

#endif
