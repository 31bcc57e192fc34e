/* Any context. Who last let go what threads wait for: the thread that unlocked a mutex, signaled a condition,
 * posted a semaphore, arrived at a barrier or woke a futex.
 *
 * A wrapper that is about to do so, and sees that threads wait, notes it by a few stores in a table:
 *
 *     if (has_waiters(mutex))
 *         waker_note(mutex);
 *     return REAL(pthread_mutex_unlock)(mutex);
 *
 * A thread whose wait has ended asks for the waker of this object. An entry of an earlier time than the wait's
 * begin is of an earlier release, so the waker is unknown then. The thread that has a lock is the only one that can
 * release it, so the entry is right when the waiter has got the lock. Of several signals of a condition or a semaphore
 * within the time that a thread takes to wake up, the last one counts. Objects share entries by a hash of their
 * addresses: then the waker of one may be lost, but is never that of another. */
#ifndef HPCRUN_LOGICAL_LAST_WAKERS_H
#define HPCRUN_LOGICAL_LAST_WAKERS_H

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"

#define WAKER_BITS 10

struct waker {
    _Alignas(32) _Atomic uint64_t object; /* address */
    _Atomic uint64_t ticks;  /* ticks_now() */
    _Atomic uint64_t thread; /* agent_slot.thread */
};

extern struct waker last_wakers[1 << WAKER_BITS];

static inline struct waker *waker_of(uint64_t object)
{
    return &last_wakers[object * 0x9e3779b97f4a7c15u >> (64 - WAKER_BITS)];
}

/* The calling thread is about to let go of the object. */
static inline void waker_note(const volatile void *object)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    if (!own_slot)
        return;
    uint64_t thread = atomic_load_explicit(&own_slot->thread, memory_order_relaxed);
    atomic_store_explicit(&waker->ticks, ticks_now(), memory_order_relaxed);
    atomic_store_explicit(&waker->thread, thread, memory_order_relaxed);
    atomic_store_explicit(&waker->object, (uint64_t)(uintptr_t)object, memory_order_release);
}

/* The index of the thread that ended a wait for the object that began at `since`, and when it did, both ticks_now().
 * False if it is unknown. */
static inline bool waker_find(const volatile void *object, uint64_t since, uint32_t *thread, uint64_t *released)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    if (atomic_load_explicit(&waker->object, memory_order_acquire) != (uint64_t)(uintptr_t)object)
        return false;
    *released = atomic_load_explicit(&waker->ticks, memory_order_relaxed);
    return *released >= since &&
           slot_thread_index(atomic_load_explicit(&waker->thread, memory_order_relaxed), thread);
}

#endif
