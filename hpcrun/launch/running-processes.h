/* The processes that hpcrun -p and --name measure. Both functions return their numbers with commas between them. */
#ifndef HPCRUN_LAUNCH_RUNNING_PROCESSES_H
#define HPCRUN_LAUNCH_RUNNING_PROCESSES_H

/* Those of the caller's processes, of root all, whose name or whose command's base name matches the shell pattern.
 * Neither this process nor those that called it, such as the shell and sudo, nor hpcrun's processes that measure from
 * outside, nor threads of the kernel. Ends the process with a message if there is none. */
char *named_processes(const char *pattern);

/* The children of the processes `pids`, their children and so on, but for hpcrun's own. NULL if there are none. */
char *descendants(const char *pids);

#endif
