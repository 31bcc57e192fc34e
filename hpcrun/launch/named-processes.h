/* The processes that hpcrun --name measures. */
#ifndef HPCRUN_LAUNCH_NAMED_PROCESSES_H
#define HPCRUN_LAUNCH_NAMED_PROCESSES_H

/* The numbers, with commas between them, of the caller's processes, of root all, whose name or whose command's base name
 * matches the shell pattern. Neither this process nor those that called it, such as the shell and sudo, nor
 * hpcrun's processes that measure from outside, nor threads of the kernel. Ends the process with a message if there is none. */
char *named_processes(const char *pattern);

#endif
