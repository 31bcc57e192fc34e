/* Runs of one command with several numbers of workers, for `hpcrun --workers`. */
#ifndef HPCRUN_LAUNCH_SET_RUNNER_H
#define HPCRUN_LAUNCH_SET_RUNNER_H

#include "hpcrun/launch/options.h"

/* Turns the calling process, a child of the launcher, into the command, which writes to the
 * measurement directory `output`. Never returns. `measures_work_span`: besides the events. */
typedef void command_starter(const void *context, char **command, const char *output,
                             bool measures_work_span);

/* Runs the command of the options with each number of workers, in alternating order, and the serial
 * baseline, each as often as the options say; with --work-span, then measures work and span in one
 * more run, so that this lengthens no time. Runs that the set already has are left out. The index
 * is written after each run. Returns the exit status: 0 if all runs of the set ended with status 0;
 * 128 + N if signal N stopped it; else 1. */
int set_run_all(const struct options *options, command_starter *start, const void *context);

#endif
