#include "hpcrun/logical/lock-waiters.h"

#include "hpcrun/logical/wait-slots.h"

#include <pthread.h>
#include <stddef.h>

/* Of glibc's ABI (hpcrun/hooks/lock-waits.c): the number of readers is above three bits of this word. */
enum { READERS_OF_RWLOCK = offsetof(pthread_rwlock_t, __data.__readers), READER_SHIFT = 3 };

/* The thread of this sample. */
struct sampled {
    struct memory *memory;
    int tid;
    const struct agent_query *query;
};

/* In libc, or in a runtime for a lock. */
static bool is_waiting(const struct agent_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    bool is_in_runtime = state == AGENT_SLOT_IDLE || state == AGENT_SLOT_ASLEEP;
    return state == AGENT_SLOT_WAITING ||
           (is_in_runtime && atomic_load_explicit(&slot->lock, memory_order_relaxed));
}

/* Whether this thread has the lock for which the thread of a slot waits, by its own note. */
static bool has_noted(const struct agent_slot *slot)
{
    uint64_t lock = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    for (unsigned i = 0; own_slot && lock && i < AGENT_MAX_HELD; i++)
        if (atomic_load_explicit(&own_slot->held[i], memory_order_relaxed) == lock)
            return true;
    return false;
}

/* Whether this thread waits for the same lock as that of a slot: then it does not hold it. From outside, the holder is
 * the one at the last look at the thread of the slot; since then, it may have released the lock and wait again. */
static bool waits_for_the_same(const struct agent_slot *slot)
{
    return own_slot && is_waiting(own_slot) &&
           atomic_load_explicit(&own_slot->lock, memory_order_relaxed) ==
               atomic_load_explicit(&slot->lock, memory_order_relaxed);
}

/* Whether the thread of a slot waits for a semaphore that this thread has as a lock. `word`: address of the word that
 * may say so. */
static bool waits_for_semaphore(const struct sampled *sampled, const struct agent_slot *slot, uint64_t word)
{
    uint64_t lock = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    return memory_word(sampled->memory, word) == semaphore_held_by(lock, sampled->tid) && !waits_for_the_same(slot);
}

/* Whether the thread of a slot waits for a byte that this thread has as a lock, as far as the agent knows. */
static bool waits_for_byte(const struct sampled *sampled, const struct agent_slot *slot, const struct agent_lock *kind)
{
    unsigned agent = agents_index(kind->agent);
    const struct agent_cursor *cursor = agent < MAX_AGENTS ? &sampled->query->cursor[agent] : NULL;
    return cursor && cursor->host_private && !waits_for_the_same(slot) &&
           kind->has_byte(cursor, atomic_load_explicit(&slot->lock, memory_order_relaxed));
}

/* Whether the thread of a slot waits for a lock that this thread holds. */
static bool waits_for(const struct sampled *sampled, const struct agent_slot *slot)
{
    uint64_t holder = atomic_load_explicit(&slot->holder, memory_order_relaxed);
    const struct agent_lock *lock = (const void *)(holder & ~AGENT_HOLDER_OF_LOCK);
    if (holder & AGENT_HOLDER_OF_SEMAPHORE)
        return waits_for_semaphore(sampled, slot, holder & ~AGENT_HOLDER_OF_SEMAPHORE);
    if (holder & AGENT_HOLDER_OF_BYTE)
        return waits_for_byte(sampled, slot, (const void *)(holder & ~AGENT_HOLDER_OF_BYTE));
    if (holder & AGENT_HOLDER_OF_LOCK)
        holder = memory_half_word(sampled->memory, lock->locked)
                     ? memory_word(sampled->memory, lock->holder) + lock->tid
                     : 0;
    int tid = holder ? (int)memory_half_word(sampled->memory, holder) : 0;
    return tid ? tid == sampled->tid && !waits_for_the_same(slot) : has_noted(slot);
}

/* For lock_waiters.turn, of the lock that a thread waits for. */
static uint64_t turn_of(const struct sampled *sampled, const struct agent_slot *slot)
{
    uint64_t holder = atomic_load_explicit(&slot->holder, memory_order_relaxed);
    const struct agent_lock *lock = (const void *)(holder & ~AGENT_HOLDER_OF_LOCK);
    return holder & AGENT_HOLDER_OF_LOCK ? memory_word(sampled->memory, lock->turns) + 1 : 0;
}

/* The slot of waiter number `which`; NULL if there are fewer waiters now. */
static struct agent_slot *find_waiter(const struct sampled *sampled, uint32_t which)
{
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        struct agent_slot *slot = agent_slot_at(&slots, i);
        if (is_waiting(slot) && waits_for(sampled, slot) && which-- == 0)
            return slot;
    }
    return NULL;
}

/* Whether it is another thread's turn to pay for a lock that several have for reading. */
static bool is_others_turn(const struct sampled *sampled, const struct agent_slot *waiter)
{
    uint64_t writer = atomic_load_explicit(&waiter->holder, memory_order_relaxed);
    if (!has_noted(waiter) || !writer || memory_half_word(sampled->memory, writer))
        return false;
    uint64_t lock = atomic_load_explicit(&waiter->lock, memory_order_relaxed);
    uint32_t readers = memory_half_word(sampled->memory, lock + READERS_OF_RWLOCK) >> READER_SHIFT;
    return readers > 1 && own_slot->held_turn++ % readers != 0;
}

/* REALTIME's samples change the order in which waiters get a lock: a signal sends a waiter to the end of the kernel's
 * queue. So the lock goes to a thread whose next sample is near, and holders have too many samples. But a waiter has
 * samples of its own, which say how long it waits. Holders pay it for no more than that and MOST_OVERPAID samples: the
 * number of samples of both is random. */
#define MOST_OVERPAID 8

/* Pays a waiter the amount of a holder's sample, unless that would be too much. */
static bool takes_payment(struct agent_slot *waiter, unsigned event, uint64_t amount)
{
    int64_t least = -MOST_OVERPAID * (int64_t)amount;
    int64_t left = atomic_load_explicit(&waiter->unpaid[event], memory_order_relaxed) - (int64_t)amount;
    if (left < least)
        return false;
    atomic_fetch_sub_explicit(&waiter->unpaid[event], (int64_t)amount, memory_order_relaxed);
    return true;
}

/* The number of those who wait for this thread and are paid: by an event that does not sample waits, all. */
static uint32_t pay_waiters(const struct sampled *sampled, uint32_t waiters, unsigned event, uint64_t amount)
{
    if (!(slots.sampled_waits >> event & 1))
        return waiters;
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire), paid = 0;
    for (uint32_t i = 0; i < end; i++) {
        struct agent_slot *slot = agent_slot_at(&slots, i);
        bool is_waiter = is_waiting(slot) && waits_for(sampled, slot);
        paid += is_waiter && takes_payment(slot, event, amount);
    }
    return paid;
}

static struct lock_waiters find_waiters(const struct sampled *sampled)
{
    struct lock_waiters waiters = {0};
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(&slots, i);
        if (!is_waiting(slot) || !waits_for(sampled, slot))
            continue;
        waiters.count++;
        waiters.turn = turn_of(sampled, slot);
    }
    return waiters;
}

/* One waiter gets the amount for all of them, each in turn: it will unwind its stack when it has the lock, and that
 * must not happen once per waiter. */
struct lock_waiters lock_waiters_charge(struct memory *memory, int tid, const struct agent_query *query, unsigned event,
                                        uint64_t amount)
{
    static _Atomic uint32_t turn;
    const struct sampled sampled = {memory, tid, query};
    struct lock_waiters waiters = find_waiters(&sampled);
    if (waiters.count == 0)
        return waiters;
    uint32_t which = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % waiters.count;
    struct agent_slot *slot = find_waiter(&sampled, which);
    bool is_charged = slot && !is_others_turn(&sampled, slot);
    waiters.count = is_charged ? pay_waiters(&sampled, waiters.count, event, amount) : 0;
    if (waiters.count == 0)
        return waiters;
    atomic_fetch_add_explicit(&slot->delay[event], amount * waiters.count, memory_order_relaxed);
    atomic_store_explicit(&slot->is_charged, 1, memory_order_release);
    return waiters;
}
