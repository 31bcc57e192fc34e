/* Threads on whose stacks paths of other threads begin.
 *
 * An agent roots a worker's path in the stack of the thread that met the construct, out to where that
 * thread began. The path hangs where that thread does.
 *
 * - A node outside of the path's notes names the thread: placeholder PLACEHOLDER_STACK_OF + its index.
 * - Paths of agents that do not know the thread have no such node. But the thread's start routine is
 *   among the frames, so it is one of the threads that have this start routine. If all of these hang
 *   at the same place, the path hangs there, too; else below <thread root>. */
#ifndef HPCPROF_STACK_OWNERS_H
#define HPCPROF_STACK_OWNERS_H

#include "hpcprof/contexts/analysis.h"
#include "hpcprof/threads/start-routine.h"

struct stack_owner {
    uint32_t function;                       /* start routine */
    const struct measurement_thread *thread; /* the first one that has it */
    bool is_unclear;                         /* another one hangs elsewhere */
};

/* The owners of one file at a time, for the logical projection. */
struct stack_owners {
    const struct measurement *m; /* NULL: of no file yet */
    VEC(struct stack_owner) list;
};

void stack_owners_free(struct stack_owners *owners);

/* The owner that a node names; NULL: it names none, or one that the file has lost. */
const struct measurement_thread *stack_owner_named(const struct measurement *m,
                                                   const struct measurement_node *node);

/* Without such a node: the owner of a stack on which this note is the outermost frame but for those of the thread
 * library; NULL: the note is in no start routine. Valid until a call for another file. */
const struct stack_owner *stack_owner_at(struct stack_owners *owners,
                                         const struct analysis *analysis,
                                         const struct thread_ref *thread, uint32_t space,
                                         uint64_t value);

/* Marks the notes of a thread outside of start routines of other threads as BORROWED. */
void stack_owners_mark(struct stack_owners *owners, const struct analysis *analysis,
                       const struct thread_ref *thread, uint8_t *marks);

#endif
