/* The handler of the sampling signal. */
#ifndef HPCRUN_HOOKS_HANDLER_H
#define HPCRUN_HOOKS_HANDLER_H

#include <signal.h>

/* Stack that the handler uses at most, bytes, besides HANDLER_FRAMES signal frames of the kernel:
 * its own, and one more when a guarded read faults. Checked by a test. */
#define HANDLER_STACK_BYTES 4096
#define HANDLER_FRAMES      2

/* Signal handler: the entry. Passes a signal that is no sample of ours on to the program's handler.
 */
void handler_on_signal(int signal, siginfo_t *info, void *context);

#endif
