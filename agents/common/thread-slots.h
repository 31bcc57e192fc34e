/* The slots of threads (agent-slots.h), for agents that interpose a runtime's functions.
 *
 * Writers: a slot belongs to one thread, which changes it by plain stores to its own cache lines.
 * Readers: the thread's own signal handler, and handlers of other threads that count states.
 *
 * Example, a thread that waits at a barrier:
 *
 *     struct agent_slot *slot = slot_mine();
 *     slot_set_state(slot, AGENT_SLOT_IDLE);
 *     real_barrier();
 *     slot_set_state(slot, AGENT_SLOT_WORKING); */
#ifndef AGENTS_COMMON_THREAD_SLOTS_H
#define AGENTS_COMMON_THREAD_SLOTS_H

#include "agents/agent.h"

#include <stdatomic.h>

/* Bits of agent_slot.runtimes: the thread is a worker of these runtimes. */
enum slot_runtime { RUNTIME_GOMP = 1, RUNTIME_OMPT = 2, RUNTIME_TBB = 4 };

/* Any context. The calling thread's slot; NULL: hpcrun does not measure the thread, or is not there. */
static inline struct agent_slot *slot_own(void)
{
    return hpctoolkit_own_slot ? hpctoolkit_thread_slot : NULL;
}

/* Normal context. The slot of a thread that has none of hpcrun's: memory of its own, which is freed when
 * the thread ends. Only that thread reads it. */
struct agent_slot *slot_spare(void);

/* Normal context. The calling thread's slot, or its spare one. */
static inline struct agent_slot *slot_mine(void)
{
    struct agent_slot *slot = slot_own();
    return __builtin_expect(slot != NULL, 1) ? slot : slot_spare();
}

/* Normal context. Whether this is part of the calling thread's spare slot. */
static inline bool slot_is_spare(const struct agent_slot_part *part)
{
    const struct agent_slot *slot = slot_own();
    return !slot || (uint64_t)part - (uint64_t)slot >= sizeof *slot;
}

/* Normal context. hpctoolkit_lets_go, hpctoolkit_waited and hpctoolkit_woken_by (agent-slots.h); without hpcrun the
 * time is 0. */
static inline uint64_t let_go(const volatile void *object)
{
    return hpctoolkit_lets_go ? hpctoolkit_lets_go(object) : 0;
}

static inline bool has_waited(const volatile void *object, uint64_t since)
{
    return !hpctoolkit_waited || hpctoolkit_waited(object, since);
}

static inline void woken_by(uint64_t thread, uint64_t since)
{
    if (hpctoolkit_woken_by)
        hpctoolkit_woken_by(thread, since);
}

static inline void slot_set_state(struct agent_slot *slot, enum agent_slot_state state)
{
    atomic_store_explicit(&slot->state, state, memory_order_relaxed);
}

/* The thread's state, with fewer kinds: WORKING also for CALLING; IDLE also for STARTING, TASKWAIT and
 * BARRIER. */
static inline enum agent_slot_state slot_state(const struct agent_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    switch (state) {
    case AGENT_SLOT_CALLING: return AGENT_SLOT_WORKING;
    case AGENT_SLOT_STARTING:
    case AGENT_SLOT_TASKWAIT:
    case AGENT_SLOT_BARRIER: return AGENT_SLOT_IDLE;
    default: return state;
    }
}

/* Normal context. The thread waits in a runtime for this lock, until slot_has_lock. */
static inline void slot_waits_for(struct agent_slot *slot, uint64_t lock)
{
    atomic_store_explicit(&slot->holder, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->lock, lock, memory_order_relaxed);
    atomic_store_explicit(&slot->state, AGENT_SLOT_IDLE, memory_order_release);
}

/* Normal context. It has got the lock. `name`: that of hpctoolkit_waited_for_lock. */
static inline void slot_has_lock(struct agent_slot *slot, const volatile void *lock, const char *name)
{
    atomic_store_explicit(&slot->lock, 0, memory_order_relaxed);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    bool is_charged = atomic_load_explicit(&slot->is_charged, memory_order_relaxed);
    if (__builtin_expect(is_charged, 0) && hpctoolkit_waited_for_lock)
        hpctoolkit_waited_for_lock(lock, name);
}

static inline bool slot_is_of(const struct agent_slot *slot, enum slot_runtime runtime)
{
    return atomic_load_explicit(&slot->runtimes, memory_order_relaxed) & runtime;
}

/* Normal context. Adds one to a number that only the calling thread writes. */
static inline void count_one(_Atomic uint32_t *number)
{
    uint32_t before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + 1, memory_order_relaxed);
}

/* Normal context. Makes the thread of the slot a worker of a runtime. */
static inline void slot_join(struct agent_slot *slot, enum slot_runtime runtime)
{
    if (!slot_is_of(slot, runtime))
        atomic_fetch_or_explicit(&slot->runtimes, runtime, memory_order_relaxed);
}

/* Any context. Whether it is the slot of a plain thread: no runtime has it as a worker. */
static inline bool slot_is_plain(const struct agent_slot *slot)
{
    return !slot->pool && !atomic_load_explicit(&slot->runtimes, memory_order_relaxed);
}

/* Any context. Whether the thread serves a runtime at this instant. Other threads than those of its
 * pool do so in its constructs, and outside of all constructs: a thread that computes in a parallel
 * region keeps no worker of libtbb waiting, though the program may be linked to both. */
bool slot_serves(const struct agent_slot *slot, enum slot_runtime runtime);

/* Handler. What the calling thread is to a runtime. */
enum agent_thread_status slot_status(enum slot_runtime runtime);

/* Any context. Counts the threads that serve a runtime, and those that work. A thread of the
 * program that waits in libc outside of all constructs is not counted: while it is, say, in
 * pthread_join, it is of no use to the runtime. */
struct slot_counts {
    uint32_t pool, others; /* threads that the runtime has created, and other ones */
    uint32_t working;
};
struct slot_counts slots_count(const struct agent_slots *slots, enum slot_runtime runtime);

#endif
