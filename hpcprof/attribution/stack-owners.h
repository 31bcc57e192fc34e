/* Threads on whose stacks paths of other threads begin.
 *
 * An agent roots a worker's path in the stack of the thread that met the construct, out to where that
 * thread began. A measurement file does not say which thread that is. But its start routine is among
 * the frames, so it is one of the threads that have this start routine. If all of these hang at the
 * same place, the path hangs there, too; else below <thread root>. */
#ifndef HPCPROF_STACK_OWNERS_H
#define HPCPROF_STACK_OWNERS_H

#include "hpcprof/attribution/analysis.h"
#include "hpcprof/attribution/start-routine.h"

struct stack_owner {
    uint32_t function;                       /* start routine */
    const struct measurement_thread *thread; /* the first one that has it */
    bool is_unclear;                         /* another one hangs elsewhere */
};

/* Those of one file at a time, for the logical projection. */
struct stack_owners {
    const struct measurement *m; /* NULL: of no file yet */
    VEC(struct stack_owner) list;
};

void stack_owners_free(struct stack_owners *owners);

/* The owner of a stack on which this note is the outermost frame but for those of the thread library;
 * NULL: the note is in no start routine. Valid until a call for another file. */
const struct stack_owner *stack_owner_at(struct stack_owners *owners,
                                         const struct analysis *analysis,
                                         const struct thread_ref *thread, uint32_t space,
                                         uint64_t value);

/* Marks the notes of a thread outside of start routines of other threads as BORROWED. */
void stack_owners_mark(struct stack_owners *owners, const struct analysis *analysis,
                       const struct thread_ref *thread, uint8_t *marks);

/* The number of BORROWED nodes of a path, outermost first. */
size_t stack_owners_count_borrowed(struct stack_owners *owners, const struct analysis *analysis,
                                   const struct thread_ref *thread, const uint32_t *nodes,
                                   size_t n);

#endif
