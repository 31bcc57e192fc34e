/* What each thread of the process does for its parallel runtimes: one word of state for all agents
 * that interpose functions.
 *
 * Agents with these slots are preloaded. Each links thread-slots.c and exports its data: the dynamic
 * linker binds all of them to the data of the first.
 *
 * Writers: a slot belongs to one thread, which changes it by plain stores to its own cache lines.
 * Readers: the thread's own signal handler, and handlers of other threads that count states.
 *
 * Example, a thread that waits at a barrier:
 *
 *     struct thread_slot *slot = slot_mine();
 *     slot_set_state(slot, THREAD_WAITS);
 *     real_barrier();
 *     slot_set_state(slot, THREAD_WORKS); */
#ifndef AGENTS_COMMON_THREAD_SLOTS_H
#define AGENTS_COMMON_THREAD_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum thread_state {
    THREAD_NONE,  /* the slot is free */
    THREAD_WORKS, /* it executes code of the program, or of a runtime that works for the program */
    THREAD_WAITS, /* it waits in a runtime, busily or not */
};

/* Bits of thread_slot.runtimes: the thread is a worker of these runtimes. */
enum slot_runtime { RUNTIME_GOMP = 1, RUNTIME_OMPT = 2, RUNTIME_TBB = 4 };

/* What an agent keeps of a thread. */
struct runtime_thread {
    void *link;            /* innermost struct body_link; NULL: none */
    void *own;             /* the agent's: gomp the block of the task being created, openmp free
                              scopes, tbb hpcrun's slot of the thread; NULL: none */
    void *records;         /* task records to reuse; NULL: none */
    uint32_t record_count; /* their number */
};

/* One cache line and the next one, which the processor fetches with it. */
struct thread_slot {
    _Alignas(128) _Atomic uint32_t state; /* enum thread_state */
    _Atomic uint32_t runtimes;            /* enum slot_runtime */
    int tid;
    uint32_t pool; /* enum slot_runtime that created the thread; 0: none did */
    struct runtime_thread gomp, ompt, tbb; /* of the agents gomp, openmp and tbb */
};

/* Threads beyond this number are not counted: they share one slot, slots_surplus(). */
#define MAX_THREAD_SLOTS 16384

/* Unused slots are untouched pages. */
extern struct thread_slot hpctoolkit_thread_slots[MAX_THREAD_SLOTS];
extern _Atomic uint32_t hpctoolkit_thread_slots_used; /* slots from this index on are unused */
extern __thread struct thread_slot *hpctoolkit_thread_slot
    __attribute__((tls_model("initial-exec")));

/* Normal context. Gives the calling thread a slot, which ends with the thread. */
struct thread_slot *slot_acquire(void);

/* Normal context. The calling thread's slot. */
static inline struct thread_slot *slot_mine(void)
{
    struct thread_slot *slot = hpctoolkit_thread_slot;
    return __builtin_expect(slot != NULL, 1) ? slot : slot_acquire();
}

/* Any context. The calling thread's slot; NULL if it has none. */
static inline struct thread_slot *slot_existing(void)
{
    return hpctoolkit_thread_slot;
}

static inline void slot_set_state(struct thread_slot *slot, enum thread_state state)
{
    atomic_store_explicit(&slot->state, state, memory_order_relaxed);
}

static inline enum thread_state slot_state(const struct thread_slot *slot)
{
    return atomic_load_explicit(&slot->state, memory_order_relaxed);
}

static inline bool slot_is_of(const struct thread_slot *slot, enum slot_runtime runtime)
{
    return atomic_load_explicit(&slot->runtimes, memory_order_relaxed) & runtime;
}

/* Any context. Whether the thread serves a runtime at this instant. Other threads than those of its
 * pool do so in its constructs, and outside of all constructs: a thread that computes in a parallel
 * region keeps no worker of libtbb waiting, though the program may be linked to both. */
static inline bool slot_serves(const struct thread_slot *slot, enum slot_runtime runtime)
{
    if (!slot_is_of(slot, runtime) || slot->pool == runtime)
        return slot_is_of(slot, runtime);
    const void *own = runtime == RUNTIME_GOMP   ? slot->gomp.link
                      : runtime == RUNTIME_OMPT ? slot->ompt.link
                                                : slot->tbb.link;
    return own || (!slot->pool && !slot->gomp.link && !slot->ompt.link && !slot->tbb.link);
}

/* Normal context. Makes the thread of the slot a worker of a runtime. */
static inline void slot_join(struct thread_slot *slot, enum slot_runtime runtime)
{
    if (!slot_is_of(slot, runtime))
        atomic_fetch_or_explicit(&slot->runtimes, runtime, memory_order_relaxed);
}

/* The slot of threads for which there was no other one. It is not counted. */
struct thread_slot *slots_surplus(void);

/* Any context. Counts the threads that serve a runtime, and those that work. */
struct slot_counts {
    uint32_t workers, working;
};
struct slot_counts slots_count(enum slot_runtime runtime);

#endif
