/* When processes end, by a pidfd for each: the kernel's records of threads that end do not say so of a process whose threads
 * are not all known. */
#ifndef HPCRUN_OUTSIDE_WATCHED_ENDS_H
#define HPCRUN_OUTSIDE_WATCHED_ENDS_H

#include <stdbool.h>

/* The descriptor that poll can wait for; -1: there are none. */
int process_ends_fd(void);

/* Begins to watch a process. Returns a descriptor, or a negative number: it has ended, or there are no descriptors. */
int process_end_watch(int pid);

/* Ends it. Does nothing if `watched` is negative. */
void process_end_forget(int watched);

/* Calls `visit` for each process that has ended since the last call. */
void process_ends_take(void (*visit)(int pid));

#endif
