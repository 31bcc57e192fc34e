/* Normal context. Reports which thread ends a wait in TBB (agent-slots.h), whether the waiting thread spins or sleeps.
 *
 *     a thread waits for            until another one                                          object
 *     a task                        puts the first one into its own queue                      that queue
 *                                   enqueues or submits one                                    the task's record
 *     the end of a call's tasks     has ended the last of them (notify_waiters, which the      the wait_context
 *                                   headers call)
 *
 * A look at the clock takes 10 to 20 ns, as long as the rest of what the agent does for a task. So a thread looks only
 * if its own queue is empty and its wait is not over when it has ended a task or begins a call that waits, and if other
 * threads use TBB. If its queue is not empty, it takes the next task from there, unless another thread has taken the
 * last one: that thread looks at the clock. */
#ifndef AGENTS_TBB_TASK_WAKERS_H
#define AGENTS_TBB_TASK_WAKERS_H

#include "agents/tbb/task-contexts.h"
#include "agents/tbb/thread-limit.h"

static inline bool others_may_wait(void)
{
    return atomic_load_explicit(&tbb_threads, memory_order_relaxed) > 1;
}

/* The object of a task that is not in the waiting thread's queue. */
static inline const void *source_of(const struct task_record *record, const struct agent_slot *owner)
{
    return owner ? (const void *)&owner->tasks : record;
}

/* The thread is about to make a task available: in its own queue, `owner`; NULL: in an arena's. */
static inline void task_offered(const struct task_record *record, const struct agent_slot *owner)
{
    if (others_may_wait() && (!owner || queue_length(owner) == 0))
        let_go(source_of(record, owner));
}

/* Whether the tasks of the innermost call in which the thread waits, if any, have ended. */
static inline bool is_over(const struct agent_slot *slot)
{
    const struct tbb_wait *wait = slot->tbb.own;
    return wait && __atomic_load_n(&wait->references, __ATOMIC_RELAXED) == 0;
}

/* The thread is about to look for a task. */
static inline void wait_for_task(struct agent_slot *slot)
{
    slot->tbb.arrived = is_over(slot) || queue_length(slot) || !others_may_wait() ? 0 : let_go(NULL);
    slot->tasks.seen_taken = atomic_load_explicit(&slot->tasks.taken, memory_order_acquire);
}

/* Since when the thread has waited; 0: it did not. */
static inline uint64_t waits_since(const struct agent_slot *slot)
{
    bool was_taken =
        atomic_load_explicit(&slot->tasks.taken, memory_order_acquire) != slot->tasks.seen_taken;
    if (slot->tbb.arrived || !was_taken)
        return slot->tbb.arrived;
    return atomic_load_explicit(&slot->tasks.taken_at, memory_order_relaxed);
}

/* The thread begins a task that it has from another thread: from the queue of `owner`; NULL: from an arena's. */
__attribute__((noinline)) static void task_came(struct agent_slot *slot, const struct task_record *record,
                                                struct agent_slot *owner)
{
    uint64_t since = waits_since(slot);
    if (since)
        has_waited(source_of(record, owner), since);
    if (owner && queue_length(owner) <= 1)
        atomic_store_explicit(&owner->tasks.taken_at, let_go(NULL), memory_order_relaxed);
}

/* The thread has ended the last task of a wait. */
static inline void last_task_ended(const void *wait)
{
    if (others_may_wait() && slot_mine()->tbb.own != wait)
        let_go(wait);
}

/* A wait for the end of tasks is over. The thread that ended the last one says so right after that; at its first call
 * the dynamic linker takes some microseconds to find notify_waiters. It may have no CPU: so this does not wait for
 * long. */
static inline void tasks_ended(struct agent_slot *slot, const void *wait)
{
    uint64_t since = waits_since(slot);
    for (int i = 0; since && !has_waited(wait, since) && i < 500; i++)
        __builtin_ia32_pause();
}

#endif
