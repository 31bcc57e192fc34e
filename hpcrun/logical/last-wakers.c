#include "hpcrun/logical/last-wakers.h"

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"

#define WAKER_BITS 10

/* Two threads may write an entry at the same time. The key says whether `thread` is the one of the object. The key of one
 * writer and the thread of the other fit no third object: objects that share an entry are at least 2,584 bytes apart, and
 * numbers of threads differ by less. */
struct waker {
    _Alignas(32) _Atomic uint64_t key; /* exclusive or of the object's address and `thread` */
    _Atomic uint64_t ticks;            /* ticks_now() */
    _Atomic uint64_t thread;           /* agent_slot.thread */
};

static struct waker *waker_of(uint64_t object)
{
    static struct waker wakers[1 << WAKER_BITS];
    return &wakers[object * 0x9e3779b97f4a7c15u >> (64 - WAKER_BITS)];
}

uint64_t waker_note(const volatile void *object)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    uint64_t now = ticks_now();
    if (!own_slot)
        return now;
    uint64_t thread = atomic_load_explicit(&own_slot->thread, memory_order_relaxed);
    atomic_store_explicit(&waker->ticks, now, memory_order_relaxed);
    atomic_store_explicit(&waker->thread, thread, memory_order_relaxed);
    atomic_store_explicit(&waker->key, (uint64_t)(uintptr_t)object ^ thread, memory_order_release);
    return now;
}

bool waker_find(const volatile void *object, uint64_t since, uint32_t *thread, uint64_t *released)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    uint64_t key = atomic_load_explicit(&waker->key, memory_order_acquire);
    uint64_t by = atomic_load_explicit(&waker->thread, memory_order_relaxed);
    *released = atomic_load_explicit(&waker->ticks, memory_order_relaxed);
    return (key ^ by) == (uint64_t)(uintptr_t)object && *released >= since && slot_thread_index(by, thread);
}
