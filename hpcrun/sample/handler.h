/* Signal handler: everything but handler_count_overdue runs there. errno needs no care: system
 * calls are made directly.
 *
 * The handler of the sampling signal: it measures the increment, records the sample, arms the next
 * one, and writes what the thread has collected every ten seconds if it has no arena file. */
#ifndef HPCRUN_SAMPLE_HANDLER_H
#define HPCRUN_SAMPLE_HANDLER_H

#include "hpcrun/thread/thread.h"

/* Stack that the handler uses at most, bytes, besides HANDLER_FRAMES signal frames of the kernel:
 * its own, and one more when a guarded read faults. Checked by a test. */
#define HANDLER_STACK_BYTES 4096
#define HANDLER_FRAMES      2

/* Takes the sample that the sampling signal stands for, and lets the interrupted system call go on.
 * Returns false for a signal that another process or the program itself sent: it is no sample. */
bool handler_on_signal(const siginfo_t *info, void *context);

/* The kernel sends SIGIO in place of a sampling signal that it could not queue (RLIMIT_SIGPENDING).
 * Takes that sample. Returns whether `signal` may be such a SIGIO; it may also be one of the
 * program's own, since pending SIGIOs are merged into one. `alone`: no handler of the program
 * follows, so that an interrupted system call goes on. */
bool handler_take_lost(int signal, const siginfo_t *info, void *context, bool alone);

/* Not in the handler: when the calling thread or the process ends, with all signals blocked and no
 * other thread using its events. Counts overdue samples as dropped: no handler runs any more that
 * could take them. */
void handler_count_overdue(struct thread *thread);

#endif
