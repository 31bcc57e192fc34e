/* What is kept of the creation of a task: its calling context (body-links.h). Normal context.
 *
 * A record lives until its task has ended and all records whose context continues in it are gone.
 * Tasks of a cancelled region or taskgroup may never run; their records end with it. */
#ifndef AGENTS_TASK_RECORDS_H
#define AGENTS_TASK_RECORDS_H

#include "agents/common/body-links.h"

/* Records with up to SMALL_MEMORY bytes behind their fields have one size; threads keep them for reuse.
 * Larger ones are allocated one by one. If frames have more than LARGEST_COPY bytes, only the call is
 * kept: CONTEXT_SITE. A copy of 5 KB takes some 150 ns, less than an unwind. */
#define SMALL_MEMORY (1152 - sizeof(struct task_record))
#define LARGEST_COPY (16u << 10)

/* How much is kept: hpcrun --task-contexts. */
enum task_contexts { TASK_CONTEXTS_FULL, TASK_CONTEXTS_SITE, TASK_CONTEXTS_OFF };
extern enum task_contexts task_contexts;

struct task_record {
    struct creation_context context;
    struct task_record *parent; /* of the task that created it; NULL: no memory */
    struct parallel_region
        *region;              /* the innermost around the creation; NULL: the record is free */
    struct task_record *next; /* in a list of free records, or of those that a region keeps */
    uint32_t created;         /* children that its task created; only its thread changes it */
    uint32_t begun;           /* of these, those that its thread began, and that are never ready */
    _Atomic uint32_t taken;   /* those that other threads began */
    _Atomic int32_t finished; /* minus the children that are gone; their number is added when the
                                   task has ended: then 0 means that no child is left */
    const struct agent_slot_part *creator; /* whose thread created the task */
    struct task_record *group;  /* the taskgroup that its task belongs to; NULL: none, or it is not known */
    struct task_record *inside; /* the innermost taskgroup that its task is in, to which its children belong. That is
                                   a record, too, of which `parent`, the group around it, and is_cancelled are used */
    _Atomic bool is_cancelled;             /* of a taskgroup: some of its tasks may never run */
    _Atomic bool is_awaited;               /* the task waits for its children, and other threads may have some */
    bool is_ready;                         /* the task counts as ready (ready-tasks.h) */
    bool is_large;                         /* its memory has more than SMALL_MEMORY bytes */
    _Alignas(16) char memory[]; /* room for the agent, then a copy of the creator's frames */
};

/* record_allocate, for a thread that has no free records, and for large ones. */
struct task_record *record_allocate_slowly(struct agent_slot_part *thread, uint64_t bytes);

/* Children that other threads have begun, and those that none has. Other threads may change these in the meantime. */
static inline uint32_t taken_children(const struct task_record *record)
{
    return atomic_load_explicit(&record->taken, memory_order_relaxed);
}

static inline int32_t ready_children(const struct task_record *record)
{
    uint32_t created = __atomic_load_n(&record->created, __ATOMIC_RELAXED);
    return (int32_t)(created - __atomic_load_n(&record->begun, __ATOMIC_RELAXED) - taken_children(record));
}

/* A record with this number of bytes behind its fields; NULL: no memory. Sets is_large and no other
 * field. */
static inline struct task_record *record_allocate(struct agent_slot_part *thread, uint64_t bytes)
{
    struct task_record *record = thread->records;
    if (__builtin_expect(!record || bytes > SMALL_MEMORY, 0))
        return record_allocate_slowly(thread, bytes);
    thread->records = record->next;
    thread->record_count--;
    return record;
}

void record_free(struct agent_slot_part *thread, struct task_record *record);

/* The task of a new record has no children yet. */
void record_count_from_zero(struct task_record *record);

/* Makes a record of a task that is created by a call with these registers; sp 0: only pc is known. The
 * creator's frames end at the link `outer`. The first `room` bytes of its memory, a multiple of 16, are
 * the caller's until the record ends. NULL without memory, or if contexts are off. */
struct task_record *record_new(struct agent_slot_part *thread, struct body_link *outer, uint64_t pc,
                               uint64_t sp, uint64_t bp, uint64_t room);

/* The record's task has ended, or was never created. A thread that waits for it, or for it and its descendants, in the
 * task that has created it may go on: last-wakers.h has the waiting task's record as the object. */
void record_end(struct agent_slot_part *thread, struct task_record *record);

/* The task in a link is about to begin a taskgroup. */
void group_begin(struct agent_slot_part *thread, struct body_link *link);

/* The task is about to cancel its innermost taskgroup. */
void group_cancel(const struct body_link *link);

/* The task's innermost taskgroup has ended, and with it all tasks that belong to it, those of a nested group, and their
 * descendants: frees records of those that never ran. */
void group_end(struct agent_slot_part *thread, struct body_link *link);

/* Keeps a record until its region ends: the number of its tasks is not known. */
void record_keep(struct task_record *record);

/* The master has left the region: frees records of the region that are left. */
void records_end_region(struct agent_slot_part *thread, struct parallel_region *region);

#endif
