/* Signal handler: everything but wall_source_open and wall_source_close runs there.
 *
 * The source of REALTIME: two timers in turns (timer-turns.h), which go on while the thread waits.
 * Samples are due at planned times, and pay the time from one to the next. A sample that comes later,
 * since the thread was stopped, had no CPU or blocked its signals, also pays the periods that were
 * over when it came.
 *
 * If there are more threads than CPUs, periods are longer: the mean changes as threads come and go. */
#ifndef HPCRUN_SOURCE_WALL_CLOCK_SOURCE_H
#define HPCRUN_SOURCE_WALL_CLOCK_SOURCE_H

#include "hpcrun/source/increment.h"
#include "hpcrun/thread/thread.h"

/* Opens the event for the calling thread, stopped. Sets event->source; false if that failed. */
bool wall_source_open(struct thread_event *event, int signal);
void wall_source_close(struct thread_event *event);

/* The mean period now, ns. */
uint64_t wall_source_mean(const struct thread_event *event);

/* What wall_source_start needs of a plan that the handler may change meanwhile. */
struct wall_start {
    uint64_t next, then; /* CLOCK_MONOTONIC for which the timers are armed */
};

/* Plan the first sample after event->last, which is now; start the event; stop it. From any thread.
 */
struct wall_start wall_source_plan(struct thread *thread, struct thread_event *event);
void wall_source_start(const struct thread_event *event, struct wall_start start);
void wall_source_stop(const struct thread_event *event);

/* The increment of a signal. It is no sample if it comes too early: kernels before 6.13 deliver
 * signals of timers that have been armed again. The event is armed then. */
struct increment wall_source_measure(struct thread *thread, struct thread_event *event,
                                     const siginfo_t *info, const ucontext_t *context);

/* Arms the source for the sample after that of event->last. */
void wall_source_arm(struct thread *thread, struct thread_event *event);

#endif
