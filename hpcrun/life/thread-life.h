/* Normal context: begin and end of a sampled thread. */
#ifndef HPCRUN_LIFE_THREAD_LIFE_H
#define HPCRUN_LIFE_THREAD_LIFE_H

#include "hpcrun/thread/thread.h"

/* Starts sampling the calling thread, whose stack is [stack_low, stack_high) (equal if unknown).
 * Does nothing if `thread` is NULL. */
void thread_adopt(struct thread *thread, uint64_t stack_low, uint64_t stack_high);

/* In the thread, with signals blocked: announces its begin to the agents. thread_adopt does this;
 * the initial thread must do it again for agents that are opened just before main. */
void thread_announce_to_agents(struct thread *thread);

/* Stops the calling thread's events, writes its data and releases its record. */
void thread_leave(void);

/* In the child of a fork: the calling thread becomes the only thread, with an empty tree. */
void thread_after_fork(void);

#endif
