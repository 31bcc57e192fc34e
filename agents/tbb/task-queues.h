/* Any context. How many tasks are in a thread's own queue in libtbb: a thread that is idle and has
 * some is about to take one.
 *
 * libtbb does not tell what it takes from where. But a task that a thread spawns is in the thread's
 * queue until it begins, in this thread or in one that has stolen it. Both are known, so the slots
 * count them (agent_slot_tasks). Enqueued and submitted tasks are in queues of their arena. */
#ifndef AGENTS_TBB_TASK_QUEUES_H
#define AGENTS_TBB_TASK_QUEUES_H

#include "agents/common/thread-slots.h"

/* The thread puts a task into its queue. */
static inline void queue_add(struct agent_slot *slot)
{
    count_one(&slot->tasks.queued);
}

/* The thread begins a task from the queue of `owner`; NULL: from another one. */
static inline void queue_remove(struct agent_slot *slot, struct agent_slot *owner)
{
    if (owner == slot)
        count_one(&slot->tasks.begun);
    else if (owner)
        atomic_fetch_add_explicit(&owner->tasks.taken, 1, memory_order_release);
}

static inline uint32_t queue_length(const struct agent_slot *slot)
{
    uint32_t queued = atomic_load_explicit(&slot->tasks.queued, memory_order_relaxed);
    uint32_t begun = atomic_load_explicit(&slot->tasks.begun, memory_order_relaxed);
    uint32_t taken = atomic_load_explicit(&slot->tasks.taken, memory_order_relaxed);
    int32_t length = (int32_t)(queued - begun - taken);
    return length > 0 ? (uint32_t)length : 0;
}

/* While a thread works in another arena, it cannot take tasks that it left in its queue. Returns
 * how many they are. */
static inline uint32_t queue_hide(struct agent_slot *slot)
{
    uint32_t length = queue_length(slot);
    if (length)
        atomic_fetch_add_explicit(&slot->tasks.taken, length, memory_order_relaxed);
    return length;
}

/* Any thread may do this. */
static inline void queue_show(struct agent_slot *slot, uint32_t length)
{
    if (length)
        atomic_fetch_sub_explicit(&slot->tasks.taken, length, memory_order_relaxed);
}

#endif
