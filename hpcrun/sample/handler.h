/* The handler of the sampling signal. */
#ifndef HPCRUN_SAMPLE_HANDLER_H
#define HPCRUN_SAMPLE_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/* Stack that the handler uses at most, bytes, besides HANDLER_FRAMES signal frames of the kernel:
 * its own, and one more when a guarded read faults. Checked by a test. */
#define HANDLER_STACK_BYTES 4096
#define HANDLER_FRAMES      2

/* Signal handler: the entry. Passes a signal that is no sample of ours on to the program's handler.
 */
void handler_on_signal(int signal, siginfo_t *info, void *context);

/* Signal handler: whether a signal may stand for a sample whose own signal could not be queued
 * (RLIMIT_SIGPENDING): the kernel sends SIGIO instead. Then the sample is taken here. It may stand
 * for a SIGIO of the program's, too: there is one for all. */
bool handler_on_lost_sample(int signal, const siginfo_t *info, const void *context);

#endif
