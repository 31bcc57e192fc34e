/* Tasks of OpenMP that are ready: created, and not begun by any thread. A thread that waits where it
 * may take a task, while one is ready, is about to take it. So it works: its time is overhead of
 * tasks that are too small. A thread that waits while none is ready is idle, for want of tasks.
 *
 *     state (agent-slots.h)           it may take            numbers of created and begun tasks
 *     AGENT_SLOT_TASKWAIT             children of its task   in the task's record
 *     AGENT_SLOT_BARRIER              any task of its team   in the slots of the team's threads
 *
 * In TASKWAIT a thread may have to wait for a child that another thread executes, though other tasks of the
 * team are ready. If such a wait is long, the thread is idle. If the thread waits often and shortly, its
 * tasks are too small: it then counts as a thread that takes a task.
 *
 * Each number has one writer, except for children that another thread than their creator's begins. Three
 * kinds of tasks never count as ready: tasks with dependences (libgomp does not report when they become
 * ready), tasks of a taskloop (it does not report their number), and tasks without a record. */
#ifndef AGENTS_READY_TASKS_H
#define AGENTS_READY_TASKS_H

#include "agents/common/task-records.h"

/* ---- normal context ---- */

/* The thread becomes a member of the team. */
static inline void team_join(struct agent_slot_part *thread, uint64_t team)
{
    atomic_store_explicit(&thread->team.created, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->team.begun, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->team.id, team, memory_order_relaxed);
}

static inline void team_set(struct agent_slot_team *to, struct agent_slot_team *from)
{
    atomic_store_explicit(&to->created, atomic_load_explicit(&from->created, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->begun, atomic_load_explicit(&from->begun, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->id, atomic_load_explicit(&from->id, memory_order_relaxed),
                          memory_order_relaxed);
}

/* The thread begins a region, as its master. */
static inline void team_begin(struct agent_slot *slot, struct agent_slot_part *thread,
                              struct parallel_region *region)
{
    region->team =
        atomic_load_explicit(&slot->thread, memory_order_relaxed) << 32 | ++thread->teams;
    team_set(&region->outside, &thread->team);
    team_join(thread, region->team);
}

/* The master leaves it. */
static inline void team_end(struct agent_slot_part *thread, struct parallel_region *region)
{
    team_set(&thread->team, &region->outside);
}

/* The thread has created a task. is_ready: it may be taken from now on; else it never counts as ready.
 * record NULL: the task has no record, and never counts as ready. */
static inline void task_created(struct agent_slot_part *thread, struct task_record *record,
                                bool is_ready)
{
    if (!record)
        return;
    record->is_ready = is_ready;
    if (is_ready)
        count_one(&thread->team.created);
    else if (record->parent)
        record->parent->begun++;
}

/* The thread begins the task of a record; NULL: a task without a record. */
static inline void task_begun(struct agent_slot_part *thread, struct task_record *record)
{
    if (!record || !record->is_ready)
        return;
    struct task_record *parent = record->parent;
    record->is_ready = false;
    count_one(&thread->team.begun);
    if (parent && record->creator == thread)
        parent->begun++;
    else if (parent)
        atomic_fetch_add_explicit(&parent->taken, 1, memory_order_relaxed);
}

/* The thread begins to wait for tasks, or goes on with that after it has executed one. */
static inline void wait_for_tasks(struct agent_slot *slot, struct agent_slot_part *thread)
{
    thread->waits.count++;
    slot_set_state(slot, AGENT_SLOT_TASKWAIT);
}

/* The thread has cancelled a construct, so some tasks of its team will never begin. From here on, no task
 * of the team counts as ready, and no child of the thread's innermost task. */
static inline void tasks_cancelled(struct agent_slot_part *thread)
{
    enum { MANY = 1 << 30 };
    const struct body_link *link = thread->link;
    uint32_t begun = atomic_load_explicit(&thread->team.begun, memory_order_relaxed);
    atomic_store_explicit(&thread->team.begun, begun + MANY, memory_order_relaxed);
    if (link && link->record)
        link->record->begun += MANY;
}

/* ---- handler ---- */

/* The part of a slot that belongs to a runtime: RUNTIME_GOMP or RUNTIME_OMPT. */
static inline struct agent_slot_part *part_of(struct agent_slot *slot, enum slot_runtime runtime)
{
    return runtime == RUNTIME_GOMP ? &slot->gomp : &slot->ompt;
}

/* Whether the thread of a slot is about to take a task. If more threads wait than tasks are ready, those
 * with the first slots take them. */
bool slot_takes_task(const struct agent_host *host, const struct agent_cursor *cursor,
                     const struct agent_slot *slot, enum slot_runtime runtime);

/* How many threads that serve the runtime are about to take a task. */
uint32_t slots_that_take_tasks(const struct agent_host *host, const struct agent_cursor *cursor,
                               enum slot_runtime runtime);

#endif
