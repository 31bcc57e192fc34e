/* What tells whether a thread has executed anything since a sample (caught-memory.h): perf's events of context
 * switches, which have the registers that a thread leaves its CPU with. */
#ifndef HPCRUN_OUTSIDE_PERF_SWITCHES_H
#define HPCRUN_OUTSIDE_PERF_SWITCHES_H

/* Opens the events for the threads of a process: the rings have a record each time that one leaves or gets a CPU. It
 * needs the right to sample in the kernel. Returns 0, or a negative errno. */
int perf_switches_watch(int pid);
void perf_switches_unwatch(int pid);

/* Whether they can be opened: 0, or a negative errno. */
int perf_switches_probe(int pid);

#endif
