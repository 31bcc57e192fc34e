/* Normal context: the life of a thread that is sampled. */
#ifndef HPCRUN_LIFE_THREAD_LIFE_H
#define HPCRUN_LIFE_THREAD_LIFE_H

#include "hpcrun/thread/thread.h"

/* Adopts the calling thread, whose stack is [stack_low, stack_high) (equal when not known), and
 * starts its events. `thread` may be NULL: then it stays unknown. */
void thread_adopt(struct thread *thread, uint64_t stack_low, uint64_t stack_high);

/* In the thread, signals blocked: tells the agents that it begins. thread_adopt does; once more for
 * agents that come before the program begins. */
void thread_announce_to_agents(struct thread *thread);

/* Stops the calling thread's events, writes what it has and gives up its record. */
void thread_leave(void);

/* In the child of a fork: the calling thread becomes the only one, with an empty tree. */
void thread_after_fork(void);

#endif
