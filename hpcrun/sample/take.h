/* Signal handler: everything here runs there, or may. errno needs no care: system calls are made
 * directly.
 *
 * What a signal of an event starts: measuring, recording, arming the next one, and now and then
 * writing what the thread has. */
#ifndef HPCRUN_SAMPLE_TAKE_H
#define HPCRUN_SAMPLE_TAKE_H

#include "hpcrun/thread/thread.h"

/* A signal of `event` in its thread. */
void sample_take(struct thread *thread, struct thread_event *event, const siginfo_t *info,
                 const ucontext_t *context);

/* A signal that tells nothing any more: any event of the thread may be due. */
void sample_take_due(struct thread *thread, const ucontext_t *context);

/* Not in the handler; with all signals blocked and no other thread at its events, when the calling
 * thread ends, or the process with it: counts samples that were due long ago, as nobody will take
 * them any more. */
void sample_miss_overdue(struct thread *thread);

/* Whether a signal may stand for a sample whose own signal could not be queued
 * (RLIMIT_SIGPENDING): the kernel sends SIGIO instead. Then the sample is taken here. It may stand
 * for a SIGIO of the program's, too: there is one for all. */
bool sample_take_lost(int signal, const siginfo_t *info, const void *context);

#endif
