/* Signal handler: everything here runs there.
 *
 * What a debugger or tracer does to samples. When it passes a signal on at another stop of the
 * thread than the one at which it learned of it (ltrace does), the kernel forgets what the signal
 * said, and says that the tracer has sent it. */
#ifndef HPCRUN_SAMPLE_TRACER_H
#define HPCRUN_SAMPLE_TRACER_H

#include <signal.h>
#include <stdbool.h>

/* Whether a signal seems to come from the tracer of the calling thread. */
bool tracer_sent(const siginfo_t *info);

#endif
