/* What the kernel reports of measured processes: perf events on their threads, each writing to the ring of its CPU
 * (perf-rings.h), which threads and processes that begin later inherit.
 *
 *   event     the software task clock of a thread: a sample for each period of its CPU time. The period
 *             can't be random from outside, as it is in a preloaded run (source/sample-source.h). It is a
 *             bit longer than what was asked for, so that it is no multiple of a round number. */
#ifndef HPCRUN_OUTSIDE_PERF_EVENTS_H
#define HPCRUN_OUTSIDE_PERF_EVENTS_H

#include "hpcrun/config/run-config.h"

#include <linux/perf_event.h>

/* Whether this process may sample that one: 0, or a negative errno. */
int perf_events_probe(int pid);

/* What will be opened, once the rings are mapped. `at_exec`: samples begin with the next exec. Returns 0, or a negative
 * errno. */
int perf_events_prepare(const struct event *event, bool at_exec);

/* The bytes of the stack that are copied with each sample of the events that will be opened. */
void perf_events_set_copy(unsigned bytes);

/* Opens the events for all threads of a process. Returns 0, or a negative errno. Adds the
 * number of threads that have no events, since there were no descriptors for them, to *missing. */
int perf_events_open(int pid, unsigned *missing);

/* Another period, ns, for what was opened and does not count yet, and for what will be. */
void perf_events_set_period(uint64_t period);

/* Lets what was opened count, unless that begins with an exec. So the rings need no reading while thousands of threads
 * get their events, and no thread is ahead of others. */
void perf_events_enable(void);

/* The same as perf_events_open for all processes, also those that begin later: an event on each CPU. Threads of the
 * kernel have samples, too. Only with privileges. perf_events_probe(-1): whether it is allowed. */
int perf_events_open_system(void);
bool perf_events_are_of_system(void);

/* Whether samples include those in the kernel; and what events have been opened with. */
bool perf_events_see_kernel(void);
const struct perf_event_attr *perf_events_attributes(void);

/* The number of events that were opened, those that are closed included. */
size_t perf_events_count(void);

/* Opens events again with another copy of the stack and another period, ns: what is opened between these calls takes
 * the place of all others from perf_events_end_again on, or is closed if that is not good. `meanwhile` is called after
 * each thread. */
void perf_events_begin_again(unsigned bytes, uint64_t period, void (*meanwhile)(void));
void perf_events_end_again(bool is_good);

/* Whether a record comes from an event that counts at its time: while events are opened again, two have the same
 * records. */
bool perf_events_have(const struct perf_event_header *record);

/* Whether a sample of this event counts for the thread, or is there twice. *opener is the thread's: 0 before
 * its first sample. */
bool perf_events_count_sample(int tid, uint64_t event, int *opener);

/* Whether it counts the time of a CPU, whatever that executes. */
bool perf_events_are_of_cpu(uint64_t event);

/* Whether events count the records for which their rings had no room: since Linux 6.0, but not those of the system. The
 * rings themselves report them with the next record only, which may never come. */
bool perf_events_count_losses(void);

/* The number of such records since the last call, of the events that were opened for a process. Those of its children
 * are among them. */
uint64_t perf_events_take_losses(int pid);

/* Lets each sample in the ring of CPU i send a signal to a thread of this process; tid 0: to none. */
void perf_events_alarm(unsigned i, int tid, int signal);

/* Stops all events; the rings can still be read. */
void perf_events_stop(void);

/* Waits until the kernel has ended the events of a program that gains rights, and forgets them: it does so a moment
 * after it has reported the exec. Events that are opened later stay. */
void perf_events_await_end(void);

#endif
