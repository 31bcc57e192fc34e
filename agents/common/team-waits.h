/* Normal context. Reports which thread ends a wait in an OpenMP team (agent-slots.h). The master releases its team at the
 * begin of a region; the last thread to arrive releases it at a barrier and at the region's end.
 *
 * A thread may execute tasks while it waits at a barrier. Then nothing is reported for that wait. */
#ifndef AGENTS_TEAM_WAITS_H
#define AGENTS_TEAM_WAITS_H

#include "agents/common/ready-tasks.h"

/* Stands for a team's barriers: no address. */
static inline const void *barrier_of(const struct agent_slot_part *thread)
{
    uint64_t team = atomic_load_explicit(&thread->team.id, memory_order_relaxed);
    return (const void *)(uintptr_t)(team | (uint64_t)1 << 63);
}

/* The master begins a region; it is on its stack, or stays until the region's end. */
static inline void team_starts(const struct parallel_region *region)
{
    let_go(region);
}

/* The thread, not the master, begins to work in a region. It has waited since it arrived at the end of its last one. */
static inline void team_started(const struct agent_slot_part *thread, const struct parallel_region *region)
{
    if (thread->arrived)
        has_waited(region, thread->arrived);
}

/* The thread arrives at a barrier of its team. */
static inline void team_arrives(struct agent_slot_part *thread)
{
    thread->arrived = let_go(barrier_of(thread));
}

/* The thread goes on. That this is said twice of a wait does no harm. */
static inline void team_goes_on(struct agent_slot_part *thread)
{
    bool has_tasks = atomic_load_explicit(&thread->team.created, memory_order_relaxed) ||
                     atomic_load_explicit(&thread->team.begun, memory_order_relaxed);
    if (thread->arrived && !has_tasks)
        has_waited(barrier_of(thread), thread->arrived);
    thread->arrived = 0;
}

#endif
