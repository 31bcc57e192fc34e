/* Tasks and regions of a program in OpenMP's model, and the longest paths that lead to them
 * (task-span.h tells the method). Normal context.
 *
 * Paths are kept in places. A place belongs to a task, a group of tasks or a region; threads offer
 * paths to it, and the longest one of each kind stays. */
#ifndef HPCRUN_SPAN_TASK_PATHS_H
#define HPCRUN_SPAN_TASK_PATHS_H

#include "hpcrun/base/lock.h"
#include "hpcrun/span/span-results.h"

/* The longest paths that were offered; their owner is in `context`. */
struct path_place {
    uint32_t context;
    struct critical_path path[KINDS];
};

/* A taskgroup that has not ended. */
struct task_group {
    struct lock lock;         /* of `place` */
    struct task_group *outer; /* NULL: none in this region */
    struct span_task *many;   /* tasks that stand for many; next: `outer` */
    struct path_place place;
};

/* A parallel region that has not ended. */
struct span_region {
    struct lock lock;
    uint32_t context;           /* CONTEXT_NONE: the code of its body is not known yet */
    uint32_t parent;            /* context of what began it */
    uint64_t site;              /* of its context */
    _Atomic uint32_t members;   /* that execute its body */
    struct task_thread *master; /* the thread that began it */
    struct span_task *creator;  /* top task of that thread; NULL: the serial code */
    struct span_task *many;     /* tasks that stand for many, outside of groups; next: `outer` */
    /* Ends of its tasks before a barrier with an even or odd number. When one has been passed by the
     * first thread, others may still read its place; nobody passes the next one meanwhile. A path
     * that stays in a place is shorter than all that follow the barrier. */
    struct path_place before_barrier[2];
};

/* A task: explicit, or what a member of a team executes of a region. */
struct span_task {
    struct lock lock;            /* of `children` and is_closed; of a task in parts, of all */
    _Atomic uint32_t references; /* its own until it has ended, those of children and of its part */
    uint32_t context;
    uint32_t barriers; /* that its region's member has passed: at the creation of the
                                     task, for an explicit one */
    bool is_closed;    /* a child that ends offers its path to the region, too */
    bool is_at_once, is_final, is_many, is_in_parts; /* flags of agent-events.h */
    bool has_begun;                                  /* a part of it */
    struct span_region *region;
    struct span_task *parent;         /* NULL: a member of the team */
    struct span_task *outer;          /* next one of the thread's stack of tasks; NULL: none */
    struct task_thread *runner;       /* that executes a part of it; NULL: none */
    struct task_group *group;         /* innermost; NULL: none in this region */
    struct critical_path path[KINDS]; /* from the region's begin; the owner is the task */
    struct path_place children;       /* that have ended since its last join */
};

/* A task of this context with empty paths; NULL without memory. */
struct span_task *task_new(struct worker_memory *memory, struct span_region *region,
                           struct span_task *parent, uint32_t context);

/* Gives up a reference. The last one frees the task. */
void task_release(struct span_task *task, struct worker_memory *memory);

/* The task's paths become those of its creator at this point, in another context. */
void task_copy_paths(struct span_task *task, const struct span_task *from,
                     struct worker_memory *memory);

/* Keeps a task that stands for many until all of them have ended. */
void task_keep(struct span_task *task);

/* One of the many tasks for which `many` stands; NULL without memory. */
struct span_task *task_one_of(struct span_task *many, struct worker_memory *memory);

/* The task has ended: offers its paths to all that may join it, and the paths of its children that it
 * has not joined. */
void task_finish(struct span_task *task, struct worker_memory *memory);

/* A member of the team arrives at a barrier, or at the end of the region. */
void task_arrives(struct span_task *member, struct worker_memory *memory);

/* It has arrived at no barrier. */
void task_leaves(struct span_task *member);

/* Joins: the task's paths become those of the place, if these are longer. */
void task_joins_children(struct span_task *task, struct worker_memory *memory);
void task_joins_team(struct span_task *member, struct worker_memory *memory);
void task_joins_group(struct span_task *task, struct worker_memory *memory); /* and ends it */

/* The task creates in a new group from here on. False without memory. */
bool task_begins_group(struct span_task *task, struct worker_memory *memory);

/* A region without context; NULL without memory. */
struct span_region *region_new(struct worker_memory *memory, uint32_t parent, uint64_t site);

/* Sets the context of a region, if it has none. All callers have the same code. */
void region_set_code(struct span_region *region, uint64_t code);

/* The region's longest paths are in `longest`; frees the region. */
void region_finish(struct span_region *region, struct critical_path longest[KINDS],
                   struct worker_memory *memory);

#endif
