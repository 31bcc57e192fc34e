/* Signal handler: everything here may be used there, except where said otherwise.
 *
 * The slots of threads (agents/agent-slots.h): hpcrun gives each thread one when it begins, and frees it
 * when it ends. How wrappers of waiting calls use them:
 *
 *     struct wait wait = wait_begin(own_slot, NULL, NULL);
 *     result = REAL(pthread_cond_wait)(condition, mutex);
 *     wait_end(&wait);
 *
 * A wait may end without wait_end: by cancellation, an exception or longjmp. The thread's next
 * sample finds that the wrapper's frame is gone. */
#ifndef HPCRUN_LOGICAL_WAIT_SLOTS_H
#define HPCRUN_LOGICAL_WAIT_SLOTS_H

#include "agents/agent.h"

#include <stdatomic.h>

/* All slots. Exported, for test programs that compare them with what their threads do. */
extern struct agent_slots slots __asm__("hpctoolkit_thread_slots")
    __attribute__((visibility("default")));

/* The calling thread's slot; NULL: it has none. Static TLS. Exported, for agents. */
extern __thread struct agent_slot *own_slot __asm__("hpctoolkit_thread_slot")
    __attribute__((tls_model("initial-exec"), visibility("default")));

/* Normal context, with signals blocked: gives the calling thread a slot, or frees it. `index` is that
 * of the thread in the measurement file; its stack is [stack_low, stack_high), equal if unknown.
 * Without memory the thread has no slot. */
void slot_take(int tid, uint32_t index, uint64_t stack_low, uint64_t stack_high);
void slot_release(void);

/* In the child of a fork: frees all slots but that of the calling thread, which has a new tid and
 * index. */
void slots_after_fork(int tid, uint32_t index);

/* The index of the thread with this agent_slot.thread, which may have ended. False if it is 0, or of a
 * thread of the process that forked this one. */
bool slot_thread_index(uint64_t thread, uint32_t *index);

/* Whether the thread is in a wrapper, as far as it is known. */
static inline bool slot_is_in_call(const struct agent_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    return state == AGENT_SLOT_WAITING || state == AGENT_SLOT_CALLING;
}

/* How many threads work, as far as their slots say. */
uint32_t slots_running(void);

/* The call of a wrapper that the thread is in, by number; 0: it is in none. `slot` may be NULL. */
static inline uint32_t slot_call(const struct agent_slot *slot)
{
    bool is_asleep = slot && atomic_load_explicit(&slot->state, memory_order_relaxed) ==
                                 AGENT_SLOT_ASLEEP;
    return slot && (is_asleep || slot_is_in_call(slot)) ? slot->calls : 0;
}

/* Whether the call of a wrapper has taken too long for work (long-calls.h). */
static inline bool slot_is_in_long_call(const struct agent_slot *slot, uint64_t ticks)
{
    return atomic_load_explicit(&slot->state, memory_order_acquire) == AGENT_SLOT_CALLING &&
           ticks > atomic_load_explicit(&slot->works_until, memory_order_relaxed);
}

/* Whether the thread waits, as far as its wrappers say. `slot` may be NULL. */
static inline bool slot_waits(const struct agent_slot *slot, uint64_t ticks)
{
    uint32_t state = slot ? atomic_load_explicit(&slot->state, memory_order_relaxed) : AGENT_SLOT_WORKING;
    return state == AGENT_SLOT_WAITING || state == AGENT_SLOT_ASLEEP ||
           (slot && slot_is_in_long_call(slot, ticks));
}

/* At a sample: threads whose calls take too long for work wait. */
void slots_find_long_calls(uint64_t ticks);

/* Ends a wait whose wrapper is gone: the thread works. */
static inline void slot_reset(struct agent_slot *slot)
{
    atomic_store_explicit(&slot->lock, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->holder, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->state, AGENT_SLOT_WORKING, memory_order_relaxed);
}

/* Stacks grow down: a wait of an inner frame than this one was left by a jump, not interrupted. */
static inline void slot_forget_left_wait(struct agent_slot *slot, uint64_t frame)
{
    if (frame > slot->frame && slot_is_in_call(slot))
        slot_reset(slot);
}

/* The state in a wrapper, which is `by_program` if the program has called it. A runtime may call these
 * wrappers, too, while the thread is idle. */
static inline enum agent_slot_state state_of_wait(uint32_t before, enum agent_slot_state by_program)
{
    switch (before) {
    case AGENT_SLOT_IDLE:
    case AGENT_SLOT_STARTING:
    case AGENT_SLOT_TASKWAIT:
    case AGENT_SLOT_BARRIER:
    case AGENT_SLOT_ASLEEP: return AGENT_SLOT_ASLEEP;
    default: return by_program;
    }
}

/* What a wait restores at its end: a handler of the program may wait while it interrupts a wait. */
struct wait {
    struct agent_slot *slot;
    uint32_t state;
    uint64_t frame, lock, holder;
};

/* Normal context. The calling wrapper is about to wait: for `lock`, whose holder's tid is in
 * *holder; both NULL for other waits. In a wait of a runtime for a lock, that remains the one that the thread waits
 * for. `slot` may be NULL. Always inlined, since it takes its frame for the wrapper's. */
__attribute__((always_inline)) static inline struct wait
wait_begin(struct agent_slot *slot, const volatile void *lock, const void *holder)
{
    if (!slot)
        return (struct wait){.slot = NULL};
    uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    slot_forget_left_wait(slot, frame);
    struct wait before = {.slot = slot,
                          .state = atomic_load_explicit(&slot->state, memory_order_relaxed),
                          .frame = slot->frame,
                          .lock = atomic_load_explicit(&slot->lock, memory_order_relaxed),
                          .holder = atomic_load_explicit(&slot->holder, memory_order_relaxed)};
    slot->frame = frame;
    slot->calls++;
    enum agent_slot_state state = state_of_wait(before.state, AGENT_SLOT_WAITING);
    if (state == AGENT_SLOT_WAITING) {
        atomic_store_explicit(&slot->holder, (uint64_t)(uintptr_t)holder, memory_order_relaxed);
        atomic_store_explicit(&slot->lock, (uint64_t)(uintptr_t)lock, memory_order_relaxed);
    }
    atomic_store_explicit(&slot->state, state, memory_order_release);
    return before;
}

/* Normal context. The wait is over. errno stays. */
static inline void wait_end(const struct wait *before)
{
    struct agent_slot *slot = before->slot;
    if (!slot)
        return;
    atomic_store_explicit(&slot->state, before->state, memory_order_relaxed);
    atomic_store_explicit(&slot->lock, before->lock, memory_order_relaxed);
    atomic_store_explicit(&slot->holder, before->holder, memory_order_relaxed);
    slot->frame = before->frame;
}

#endif
