/* Filters of system calls (seccomp) that the launcher inherited; the profiled program inherits them
 * from it. Those of containers answer a forbidden call with an error, but others end the process. So
 * the program must not try a call out. */
#ifndef HPCRUN_LAUNCH_HARMLESS_FILTERS_H
#define HPCRUN_LAUNCH_HARMLESS_FILTERS_H

/* The number of inherited filters if a process under them can make an arena file in `directory`, or
 * gets an error; a child tries that. 0 if there are no filters, or one ends the child. */
unsigned harmless_filters(const char *directory);

#endif
