/* Signal handler: runs there.
 *
 * The thread that has called a computation: the initial thread in the runtime's own main, or any thread in
 * a program that uses Cilk-5 as a library (Cilk_init, EXPORT(f)). It waits in the runtime until the
 * workers have ended the computation:
 *
 *     pthread_cond_wait < Cilk_wakeup_workers < Cilk_start < mt_f < the program's functions
 *
 * hpcrun's wrapper of pthread_cond_wait has left the address of its frame in the thread's slot. For some
 * microseconds, from when the workers are woken to that call, the thread is not found. Then, and if several
 * computations run at the same time, paths begin with the computation's first procedure. */
#ifndef AGENTS_CILK5_CILK5_CALLER_H
#define AGENTS_CILK5_CILK5_CALLER_H

#include "agents/agent.h"

/* The innermost frame outside of the runtime in the thread that waits for the computation, and
 * agent_slot.thread of that. pc 0: not found, or the runtime's main is the caller, which is not the
 * program's. */
struct caller {
    struct agent_frame frame;
    uint64_t thread;
};

struct caller find_caller(const struct agent_host *host, const struct agent_cursor *cursor);

#endif
