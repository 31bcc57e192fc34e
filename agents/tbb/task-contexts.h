/* Calling contexts of TBB's tasks, and the tasks' own tables of virtual functions. Normal context.
 *
 * A task is an object of a class that the headers define. libtbb only calls its virtual functions
 * execute() and cancel(). So a task that a program passes to libtbb gets a table of its own:
 *
 *     task                 struct tbb_task, in a record
 *     address of table --> copy of the table of its class, with run_task and run_cancel (tbb-tasks.c)
 *                          the table of its class, which run_task puts back
 *                          context of the task
 *
 * The context (body-links.h) is one of
 *
 *     that of an algorithm   CONTEXT_ON_STACK: the caller of tbb::parallel_for waits until all tasks
 *                            of the call have ended, so its frames stand still. All tasks that tasks
 *                            of the call spawn in its group have it, too
 *     its own                CONTEXT_COPY: the frames that called task_group::run, arena.enqueue, ...
 *     its predecessor's      a task that execute() returns runs next; and flow graphs submit such
 *                            tasks
 *
 * A context lives as long as there are references: one of the algorithm's call, one of each task
 * that has it, one of each context whose path continues in it. */
#ifndef AGENTS_TBB_TASK_CONTEXTS_H
#define AGENTS_TBB_TASK_CONTEXTS_H

#include "agents/common/task-records.h"
#include "agents/tbb/task-queues.h"
#include "agents/tbb/tbb-functions.h"

/* Words in front of a table: offset to the object, type. Virtual functions of a task; no class of
 * the headers has more. */
enum { TABLE_PREFIX = 2, TABLE_FUNCTIONS = 4 };

/* What follows a record of this agent: a task, a context, or both. A copy of frames comes behind, at
 * its alignment. */
struct tbb_task {
    _Alignas(16) struct task_record *context; /* whose context the task has; NULL: none */
    const uintptr_t *table;                   /* task: of its class */
    struct agent_slot *queue; /* task: of the thread in whose queue it is; NULL: in none */
    uintptr_t own_table[TABLE_PREFIX + TABLE_FUNCTIONS]; /* task */
    const void *group;           /* context: tbb::task_group_context, or NULL */
    _Atomic uint32_t references; /* to this record */
    uint32_t depth;              /* context: number of contexts outwards from it */
};

static inline struct tbb_task *task_of(struct task_record *record)
{
    return (struct tbb_task *)(record + 1);
}

/* The record of a task that has a table of its own. */
static inline struct task_record *record_of_table(const uintptr_t *table)
{
    const char *task = (const char *)(table - TABLE_PREFIX) - offsetof(struct tbb_task, own_table);
    return (struct task_record *)task - 1;
}

/* The registers of a wrapper's caller. */
struct tbb_caller {
    uint64_t pc, sp, bp;
};

/* A context for an algorithm's call, with one reference; NULL: no memory. */
struct task_record *context_of_call(struct agent_slot *slot, const struct tbb_caller *caller,
                                    const void *group);

/* The call returns. If something refers to its context, that keeps a copy of the frames. */
void context_end_call(struct agent_slot *slot, struct task_record *call);

/* A record for a task that `caller` spawns in a group, or submits: its context is chosen as above.
 * NULL: no memory. */
struct task_record *record_of_spawned(struct agent_slot *slot, const struct tbb_caller *caller,
                                      const void *group, bool is_submitted);

/* A record for a task with a known context, which may be NULL; NULL: no memory. */
struct task_record *record_with_context(struct agent_slot *slot, struct task_record *context);

/* The task of a record has ended. */
void record_end_task(struct agent_slot *slot, struct task_record *record);

/* Instead: a thread of the pool that runs no task now keeps the record if it has further ones: its
 * context is where the thread takes the next one. False: it has none. */
bool record_keep_last(struct agent_slot *slot, struct task_record *record);

/* The record that the thread keeps; NULL: none. */
static inline struct task_record *record_kept(const struct agent_slot *slot)
{
    return slot->tbb.kept;
}

void record_forget_kept(struct agent_slot *slot);

/* The context in which a thread runs; NULL: outside of all tasks. */
static inline struct task_record *context_of_thread(const struct agent_slot *slot)
{
    const struct body_link *link = slot->tbb.link;
    return link ? (struct task_record *)link->context : NULL;
}

#endif
