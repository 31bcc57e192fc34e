#include "hpcrun/logical/last-wakers.h"

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"

#define WAKER_BITS 10

/* Releases that an entry of the table keeps. A thread may take so long to wake up that others are woken meanwhile. */
#define NOTES 8

/* A release. Two threads may write a note at the same time, if others have written NOTES - 1 in between. The key says
 * whether `thread` is the one of the object. The key of one writer and the thread of the other fit no third object
 * while the process has had less than 512 threads: objects that share an entry are at least 610 bytes apart. `ticks`
 * may be the other one's. */
struct note {
    _Alignas(32) _Atomic uint64_t key; /* exclusive or of the object's address and `thread`; 0: it is being written, or
                                          a waiter has taken it */
    _Atomic uint64_t ticks;            /* ticks_now() */
    _Atomic uint64_t thread;           /* agent_slot.thread */
    _Atomic uint64_t wakes;            /* enum wakes */
};

struct waker {
    struct note notes[NOTES];
    _Atomic uint32_t n; /* notes so far; the next one replaces the oldest */
};

static struct waker *waker_of(uint64_t object)
{
    static struct waker wakers[1 << WAKER_BITS];
    return &wakers[object * 0x9e3779b97f4a7c15u >> (64 - WAKER_BITS)];
}

#define READ(field)         atomic_load_explicit(&(field), memory_order_acquire)
#define WRITE(field, value) atomic_store_explicit(&(field), value, memory_order_release)

uint64_t waker_note(const volatile void *object, enum wakes wakes)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    uint64_t now = ticks_now();
    if (!own_slot)
        return now;
    struct note *note = &waker->notes[atomic_fetch_add_explicit(&waker->n, 1, memory_order_relaxed) % NOTES];
    uint64_t thread = atomic_load_explicit(&own_slot->thread, memory_order_relaxed);
    WRITE(note->key, 0);
    WRITE(note->ticks, now);
    WRITE(note->thread, thread);
    WRITE(note->wakes, wakes);
    WRITE(note->key, (uint64_t)(uintptr_t)object ^ thread);
    return now;
}

/* What a note says. */
struct release {
    struct note *note;
    uint64_t key, ticks, thread, wakes;
};

/* False if it is of another object, or changes. */
static bool read_note(struct note *note, uint64_t object, struct release *release)
{
    *release = (struct release){note, READ(note->key), READ(note->ticks), READ(note->thread), READ(note->wakes)};
    return (release->key ^ release->thread) == object && READ(note->key) == release->key;
}

/* The release that ended a wait since then: of a lock the last one, else the first one that is left. False: it is not
 * known, since there is none, or it may have been replaced. */
static bool find_release(struct waker *waker, uint64_t object, uint64_t since, struct release *found)
{
    uint64_t oldest = UINT64_MAX;
    *found = (struct release){.note = NULL};
    for (unsigned i = 0; i < NOTES; i++) {
        struct release release;
        bool is_of_it = read_note(&waker->notes[i], object, &release) && release.ticks >= since;
        bool is_first = release.ticks < found->ticks;
        oldest = release.ticks < oldest ? release.ticks : oldest;
        if (is_of_it && (!found->note || is_first == (release.wakes != WAKES_NEXT_HOLDER)))
            *found = release;
    }
    return found->note && (found->wakes == WAKES_NEXT_HOLDER || oldest < since);
}

bool waker_find(const volatile void *object, uint64_t since, uint32_t *thread, uint64_t *released)
{
    struct waker *waker = waker_of((uint64_t)(uintptr_t)object);
    struct release found;
    do {
        if (!find_release(waker, (uint64_t)(uintptr_t)object, since, &found))
            return false;
    } while (found.wakes == WAKES_ONE && !atomic_compare_exchange_strong(&found.note->key, &found.key, 0));
    *released = found.ticks;
    return slot_thread_index(found.thread, thread);
}
