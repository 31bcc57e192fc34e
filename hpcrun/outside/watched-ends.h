/* Notices the ends of processes, by a pidfd for each. perf's records of threads that end are not enough: it is unknown
 * how many threads a process has that was there before. */
#ifndef HPCRUN_OUTSIDE_WATCHED_ENDS_H
#define HPCRUN_OUTSIDE_WATCHED_ENDS_H

#include <stdbool.h>

/* The descriptor that poll can wait for; -1: there are none. */
int process_ends_fd(void);

/* Begins to watch a process. Returns a descriptor, or a negative errno; -ESRCH: it has ended. */
int process_end_watch(int pid);

/* Ends it. Does nothing if `watched` is negative. */
void process_end_forget(int watched);

/* Sleeps for a time, or until a process ends. */
void process_ends_wait(int milliseconds);

/* Calls `visit` for each process that has ended since the last call. */
void process_ends_take(void (*visit)(int pid));

#endif
