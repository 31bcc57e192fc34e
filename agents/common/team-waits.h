/* Normal context. Reports which thread ends a wait in an OpenMP team (agent-slots.h).
 *
 *     a thread waits for        until another one                                  object
 *     a region                  begins it, as its master                           the region
 *     its team, at a barrier    arrives as the last one, or ends the last task     barrier_of(thread)
 *     a task, at a barrier      creates one while no sibling of that is ready      offer_of(the creating task's record)
 *     its children              ends the last one (task-records.c)                 the record of the waiting task
 *
 * A look at the clock takes 10 to 20 ns. So a thread that has ended a task looks only if no sibling of that is ready:
 * it takes that next. If another thread takes the last one at the same time, the wait that follows is not reported.
 * Tasks that wait for others (depend) are not reported either. */
#ifndef AGENTS_TEAM_WAITS_H
#define AGENTS_TEAM_WAITS_H

#include "agents/common/ready-tasks.h"

/* Whether the agent's runtime has created threads, so that others may wait. Each agent has its own. */
extern _Atomic bool has_created_threads;

static inline bool others_may_wait(void)
{
    return atomic_load_explicit(&has_created_threads, memory_order_relaxed);
}

/* The thread lets go of the object; NULL: nothing. Returns the time; 0: there are no others. */
static inline uint64_t let_others_go(const void *object)
{
    return others_may_wait() ? let_go(object) : 0;
}

/* The thread has waited for the object, if at all, and goes on. */
static inline void wait_is_over(struct agent_slot_part *thread, const void *object)
{
    if (thread->arrived && object)
        has_waited(object, thread->arrived);
    thread->arrived = 0;
}

/* ---- barriers ---- */

/* Stands for a team's barriers: no address. */
static inline const void *barrier_of(const struct agent_slot_part *thread)
{
    uint64_t team = atomic_load_explicit(&thread->team.id, memory_order_relaxed);
    return (const void *)(uintptr_t)(team | (uint64_t)1 << 63);
}

/* The master begins a region; it is on its stack, or stays until the region's end. */
static inline void team_starts(const struct parallel_region *region)
{
    let_others_go(region);
}

/* The thread, not the master, begins to work in a region. It has waited since it arrived at the end of its last one. */
static inline void team_started(struct agent_slot_part *thread, const struct parallel_region *region)
{
    wait_is_over(thread, region);
}

/* The thread arrives at a barrier of its team. */
static inline void team_arrives(struct agent_slot_part *thread)
{
    thread->arrived = let_others_go(barrier_of(thread));
}

/* The thread goes on. That this is said twice of a wait does no harm. */
static inline void team_goes_on(struct agent_slot_part *thread)
{
    wait_is_over(thread, barrier_of(thread));
}

/* ---- tasks ----
 *
 * `tasks` stands for those that a task has created: its record, or the context of a taskloop. NULL: unknown. */

static inline const void *offer_of(const void *tasks)
{
    return tasks ? (const char *)tasks + 1 : NULL;
}

/* The thread has created a task, which others may take from now on. */
static inline void task_offered(const struct task_record *record)
{
    if (record && record->is_ready && record->parent && others_may_wait() && ready_children(record->parent) == 1)
        let_go(offer_of(record->parent));
}

/* The thread begins one of the tasks. */
static inline void task_came(struct agent_slot_part *thread, const void *tasks)
{
    wait_is_over(thread, offer_of(tasks));
}

/* The thread, which was in this state before, ends a task, whose record has not ended yet. NULL: it has none. */
static inline void task_ends(struct agent_slot_part *thread, const struct task_record *record, uint32_t state)
{
    const struct task_record *parent = record ? record->parent : NULL;
    bool takes_next = parent && ready_children(parent) > 0;
    if (state == AGENT_SLOT_BARRIER && !takes_next)
        team_arrives(thread);
    else if (state == AGENT_SLOT_TASKWAIT && !takes_next && (!parent || taken_children(parent)))
        thread->arrived = let_go(NULL);
}

/* The thread is about to wait for the children of the record's task; NULL: it has none. */
static inline void children_awaited(struct agent_slot_part *thread, struct task_record *record)
{
    if (!record)
        return;
    atomic_store_explicit(&record->is_awaited, true, memory_order_relaxed);
    if (taken_children(record) && ready_children(record) <= 0)
        thread->arrived = let_go(NULL);
}

/* That wait is over. */
static inline void children_ended(struct agent_slot_part *thread, struct task_record *record)
{
    wait_is_over(thread, record);
    if (record)
        atomic_store_explicit(&record->is_awaited, false, memory_order_relaxed);
}

#endif
