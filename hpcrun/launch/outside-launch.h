/* Runs that are measured from outside: hpcrun becomes hpcrun-outside (outside/main.c). */
#ifndef HPCRUN_LAUNCH_OUTSIDE_LAUNCH_H
#define HPCRUN_LAUNCH_OUTSIDE_LAUNCH_H

#include "hpcrun/launch/options.h"

/* Ends the process with a message if the options or the events ask for what can't be had from outside, or if
 * the caller has no right to it. */
void outside_check(const struct options *options, const struct config *config, const char *processes,
                   const char *library);

/* The agents that it can use. */
#define OUTSIDE_AGENTS "pthread,python"

/* A name for what is measured, for the default directory: that of the first process that is there.
 * Ends the process with a message if there is none. */
const char *outside_name(const char *processes);

/* Becomes hpcrun-outside, which is next to the library. `file`: that of the command; NULL: `processes`
 * (running_processes) are measured. Ends the process with a message if that fails. */
_Noreturn void outside_become(const struct options *options, const char *processes, const char *file,
                              const char *library);

#endif
