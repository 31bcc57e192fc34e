/* What tells whether a thread has executed anything since a sample (caught-memory.h): perf's events of context
 * switches, which have the registers that a thread leaves its CPU with; and the youngest sample of a ring. */
#ifndef HPCRUN_OUTSIDE_PERF_SWITCHES_H
#define HPCRUN_OUTSIDE_PERF_SWITCHES_H

#include "hpcrun/outside/perf-rings.h"

/* Opens the events for the threads of a process: the rings have a record each time that one leaves or gets a CPU. It
 * needs the right to sample in the kernel. Returns 0, or a negative errno. */
int perf_switches_watch(int pid);
void perf_switches_unwatch(int pid);

/* Whether they can be opened: 0, or a negative errno. */
int perf_switches_probe(int pid);

/* The youngest sample of a ring, at *position or later, that is no switch. It may be overwritten meanwhile, so its
 * content is to be checked. Moves *position to the end. False: there is none. */
struct perf_instant {
    int pid, tid;
    uint64_t time;
    uint64_t stack_end; /* address of the first byte of its stack that the copy lacks; 0: it lacks none */
};
bool perf_ring_youngest(const struct perf_ring *ring, uint64_t *position, struct perf_instant *found);

#endif
