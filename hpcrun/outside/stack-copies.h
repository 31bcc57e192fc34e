/* Fits the size of the copies of stacks, and the rate of samples, to what can be read (copy-size.h): perf's events are
 * opened again with another size or period. The rings stay. Old and new events exist side by side for a few
 * milliseconds; each record counts once (perf_events_have). */
#ifndef HPCRUN_OUTSIDE_STACK_COPIES_H
#define HPCRUN_OUTSIDE_STACK_COPIES_H

#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/record-queue.h"

/* Chooses the size for the first events. `threads`: that the measured processes have; 0: all processes of the system
 * are measured. After perf_events_prepare. */
void stack_copies_begin(unsigned threads);

/* After the first events were opened, before they count. While it opened them, the reader has seen how long it waits
 * for a CPU; if it could not read all samples in what it gets, there are fewer. */
void stack_copies_slow_down(void);

/* Records for which a ring had no room. */
void stack_copies_lose(uint64_t records);

/* Takes into account what the queue's reader has asked for. */
void stack_copies_gather(struct record_queue *queue);

/* The same for all queues; then opens the events of all processes again if it is time to. `visit`: for records that it
 * reads meanwhile. */
void stack_copies_fit(perf_record_visit_function *visit);

/* Replaces the events of threads by events of the CPUs (cpu-events.h). False: it can't be done, and nothing changes. */
bool stack_copies_take_cpus(perf_record_visit_function *visit);

/* Whether the samples of `ms` milliseconds fit into the rings and queues, with copies of the present size. */
bool stack_copies_have_room(unsigned ms);

/* The least and the largest size up to now, KB. */
struct copy_range {
    unsigned least, most;
};
struct copy_range stack_copies_range(void);

/* How much longer the time between two samples is than at first, as a factor. */
unsigned stack_copies_slowdown(void);

#endif
