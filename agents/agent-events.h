/* What an agent can tell of its runtime's computation, for `hpcrun --work-span` (agents/agent.h). */
#ifndef AGENTS_AGENT_EVENTS_H
#define AGENTS_AGENT_EVENTS_H

#include <stdbool.h>

/* A procedure's activation, for struct agent_dag: where its code's address and the return address
 * of its spawn can be read, from the activation's first event or end on. */
struct agent_activation {
    const void *const *code, *const *site;
};

/* What a fork-join runtime can tell of its computation, for `hpcrun --work-span`. Normal context,
 * in the thread of the worker with this number, in the order in which it executes; the runtime's
 * own steals and joins must order events of different workers. A worker executes a stack of
 * activations; the bottom one is its base. `key` is any address that identifies an activation while
 * it lives. */
struct agent_dag {
    /* Why a runtime that the process has cannot tell any of this: what the user may do. A constant.
     * Shown if no other one does. */
    void (*cannot_tell)(const char *why);
    /* A thread outside of the workers calls a root, which some worker will resume. */
    void (*run_begins)(const void *key, struct agent_activation root);
    /* The root has ended: that thread goes on. */
    void (*run_ended)(void);
    /* The worker continues with this base: a root, a stolen activation, or a suspended one whose
     * children have ended. */
    void (*resumed)(unsigned worker, const void *key);
    /* The strand of the top activation has ended: what the worker does until its next event is the
     * runtime's work. Runtimes that do little need not say it. */
    void (*paused)(unsigned worker);
    /* The top activation spawns a child, which becomes the top; its code's address can be read now.
     * True: until the child returns, or its worker resumes another base, the runtime reports nothing
     * of it and its descendants but steals. */
    bool (*spawned)(unsigned worker, struct agent_activation child);
    /* The top has ended, and its parent continues. */
    void (*returned)(unsigned worker);
    /* The top has ended, and its parent was stolen from this worker. */
    void (*orphaned)(unsigned worker);
    /* The children of the top have all ended. */
    void (*synced)(unsigned worker);
    /* The base waits for children that other workers execute. */
    void (*suspended)(unsigned worker, const void *key);
    /* The base has ended. */
    void (*ended)(unsigned worker);
    /* Takes the victim's lowest activation that was not stolen yet. Called in the thief, while the
     * victim cannot continue with that activation. */
    void (*stolen)(unsigned victim, const void *key);
};

/* What the end of a wait in a runtime of tasks has joined to the task that waited. */
enum agent_join {
    AGENT_JOIN_NOTHING,  /* e.g. a lock */
    AGENT_JOIN_UNKNOWN,  /* some other tasks: dependences, an iteration of an ordered loop */
    AGENT_JOIN_CHILDREN, /* its children */
    AGENT_JOIN_GROUP,    /* all tasks that were created in its innermost group, which ends */
    AGENT_JOIN_TEAM,     /* all tasks of the region: a barrier */
};

/* Flags of a task. */
enum {
    AGENT_TASK_AT_ONCE = 1, /* the creator waits for it */
    AGENT_TASK_FINAL = 2,   /* the task waits for all that it creates, and these likewise */
    AGENT_TASK_MANY = 4, /* any number of tasks, which have ended when the innermost group ends, or
                               without a group when the region ends */
    AGENT_TASK_ORDERED = 8,   /* other tasks may have to end first: dependences */
    AGENT_TASK_IN_PARTS = 16, /* it is executed in parts, one after another, in any threads */
};

/* What a runtime of regions and tasks can tell of its computation, for `hpcrun --work-span`:
 * OpenMP's model. Normal context, in the thread that does it. `code` is an address in the procedure of a body,
 * `site` the return address of the call that begins the region or creates the task.
 *
 * A thread executes a stack of bodies. The time of the top one is measured, but for that between a
 * pair of events "x, x ended": there the runtime works or executes other bodies in this thread. */
struct agent_tasks {
    /* The thread begins a parallel region; returns its handle, NULL: it is not observed. `code` NULL: not
     * known yet. region_code then tells it, in each member before that begins. */
    void *(*region_begins)(const void *code, const void *site);
    void (*region_code)(void *region, const void *code);
    void (*region_ended)(void *region);
    /* A member of the region's team begins or ends the region's body. */
    void (*member_begins)(void *region);
    void (*member_ended)(void);
    /* The top body creates a task; returns its handle, NULL: it is not observed. */
    void *(*created)(const void *code, const void *site, unsigned flags);
    void (*creation_ended)(void);
    /* The thread begins or ends the body of a task. Of a task in parts: begins each part, ends the last
     * one. */
    void (*task_begins)(void *task);
    void (*task_ended)(void);
    /* The thread leaves the top body, a task in parts. Others will execute the rest, or there is none. */
    void (*part_ended)(void);
    /* A task in parts has ended, in a thread that does not execute it: that of an earlier part. If the
     * last part seems to run in another thread, it has ended there, too: part_ended follows in that. */
    void (*ended_elsewhere)(void *task);
    /* The top body waits. */
    void (*waits)(enum agent_join what);
    void (*wait_ended)(enum agent_join what);
    /* Tasks that are created from here on are in a new group, inside of the innermost one. */
    void (*group_begins)(void);
    /* The runtime does what these events cannot tell; `why` is a string constant. The program has no work
     * and span then, and events do nothing from here on. */
    void (*cannot_follow)(const char *why);
};

#endif
