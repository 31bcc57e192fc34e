/* What the kernel reports of measured processes: perf events on their threads, each with a ring buffer of its CPU,
 * which threads and processes that begin later inherit.
 *
 *   event     the software task clock of a thread: a sample for each period of its CPU time. The period
 *             can't be random from outside, as it is in a preloaded run (source/sample-source.h). It is a
 *             bit longer than what was asked for, so that it is no multiple of a round number.
 *   records   perf-records.h */
#ifndef HPCRUN_OUTSIDE_PERF_RINGS_H
#define HPCRUN_OUTSIDE_PERF_RINGS_H

#include "hpcrun/config/run-config.h"
#include "hpcrun/outside/perf-records.h"

/* Whether this process may sample that one: 0, or a negative errno. */
int perf_rings_probe(int pid);

/* Maps the rings, which take at most most_bytes, and says what will be opened. `at_exec`: samples begin with the next
 * exec. Returns 0, or a negative errno. */
int perf_rings_prepare(const struct event *event, bool at_exec, bool is_system, size_t most_bytes);

/* Of all rings. */
size_t perf_rings_bytes(void);

/* The bytes of the stack that are copied with each sample of the events that will be opened; and the most of which rings
 * and queues have room for the samples of a time. */
void perf_rings_set_copy(unsigned bytes);
uint64_t perf_rings_room(uint64_t ns);

/* Opens the events for all threads of `process` (process/process.h). Returns 0, or a negative errno. Adds the
 * number of threads that have no events, since there were no descriptors for them, to *missing. */
int perf_rings_open(unsigned *missing);

/* The same for all processes, also those that begin later: an event on each CPU. Threads of the kernel have samples, too.
 * Only with privileges. perf_rings_probe(-1): whether it is allowed. */
int perf_rings_open_system(void);
bool perf_rings_are_system(void);

/* The number of events that were opened, those that are closed included. */
size_t perf_rings_count(void);

/* Opens events again with another copy of the stack: what is opened between these calls takes the place of all others
 * from perf_rings_end_again on, or is closed if that is not good. */
void perf_rings_begin_again(unsigned bytes);
void perf_rings_end_again(bool is_good);

/* Whether samples include those in the kernel. */
bool perf_rings_see_kernel(void);

/* Waits until a ring is a quarter full (of the system's: half), until another descriptor is ready, or for a time, ms. */
void perf_rings_wait(int other, int milliseconds);

/* Takes the records from the rings in the order of their times. The youngest of them stay there, unless these
 * are the last ones. Returns until which time there is none left. */
uint64_t perf_rings_read(bool is_last, void (*visit)(const struct perf_event_header *record));

/* Whether a sample of this event counts for the thread, or is there twice. *opener is the thread's: 0 before
 * its first sample. */
bool perf_rings_counts(int tid, uint64_t event, int *opener);

/* The number of samples that rings had no room for since the last call. */
uint64_t perf_rings_lost(void);

/* Stops all events; the rings can still be read. */
void perf_rings_stop(void);

/* Waits until the kernel has ended the events of a program that gains rights, and forgets them: it does so a moment
 * after it has reported the exec. Events that are opened later stay. */
void perf_rings_await_end(void);

#endif
