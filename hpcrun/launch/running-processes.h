/* The processes that hpcrun -p, --name and -a measure. */
#ifndef HPCRUN_LAUNCH_RUNNING_PROCESSES_H
#define HPCRUN_LAUNCH_RUNNING_PROCESSES_H

#include "hpcrun/launch/options.h"

/* Lists them in the form that hpcrun-outside gets (outside/given-processes.h). The caller frees. NULL: a command is
 * measured.
 *
 *   -p      those, and after a semicolon their children, these children's children and so on, but for hpcrun's own
 *   --name  of the caller's processes, of root all, those whose name or whose command's base name matches. Neither
 *           this process nor those that called it, such as the shell and sudo, nor hpcrun's processes that measure
 *           from outside, nor threads of the kernel. Ends the process with a message if there is none
 *   -a      OUTSIDE_ALL */
char *running_processes(const struct options *options);

#endif
