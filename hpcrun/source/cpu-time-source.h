/* Signal handler: everything but cpu_source_open and cpu_source_close runs there.
 *
 * The source of CPUTIME: what times the samples of a thread's CPU time.
 *
 * Two timers on CLOCK_MONOTONIC send their signals in turns (timer-turns.h).
 * The wall clock is never slower than the thread's CPU clock, so a signal comes in time or too
 * early. Too early means that the thread was off the CPU:
 *
 *   it waited          the CPU clock times the next sample: by perf's task clock, which is exact,
 *                      or else by a timer on the CPU clock, which expires at the scheduler's ticks
 *   it waits often     each 0.1 ms of its CPU time or more often: the timer on the CPU clock times
 *                      its samples as long as it does
 *   it was preempted   both timers are armed for the rest
 *
 * At each switch, the kernel programs the clock hardware for perf's event, but does nothing for the timer:
 * redis-server, which waits for 10,000s of requests a second, needed a third more CPU time by perf. And of such a
 * thread perf's samples come at the end of its turns: the kernel lets 10 us pass after a switch, and the signal comes
 * later (design-decisions.md).
 *
 * Nor do timers on the wall clock tell what such a thread did: their signals come while it sleeps, and when the signal
 * has woken it, its next request is there: then the call that it waits in returns as if it had just worked.
 *
 * perf goes on until the thread has the CPU for half of the time. It would do without timers, but
 * its signal takes an interrupt of its own, and arming it two slow system calls (sample-source.h). It
 * times all samples where timers would take too many of the user's signals (source-timer.h), and so does
 * the timer on the CPU clock without perf. */
#ifndef HPCRUN_SOURCE_CPU_TIME_SOURCE_H
#define HPCRUN_SOURCE_CPU_TIME_SOURCE_H

#include "hpcrun/thread/thread.h"

/* Opens the event for the calling thread, stopped. `with_perf`: if perf's task clock may be used.
 * Sets event->source; false if that failed. */
bool cpu_source_open(struct thread_event *event, int signal, bool with_perf);
void cpu_source_close(struct thread_event *event);

/* Whether the event is one of CPUTIME, and open. */
static inline bool is_cpu_source(const struct thread_event *event)
{
    return event->source == SOURCE_TASK_CLOCK || event->source == SOURCE_CPU_TIMER;
}

/* Whether the event's samples are timed by perf now. */
static inline bool cpu_source_is_on_perf(const struct thread_event *event)
{
    return event->source == SOURCE_TASK_CLOCK && event->by_cpu_clock && !event->has_short_turns;
}

/* What cpu_source_start needs of a plan that the handler may change meanwhile. */
struct cpu_start {
    uint64_t period;     /* from now to the first sample */
    uint64_t next, then; /* CLOCK_MONOTONIC for which the timers are armed */
};

/* Plan the first sample after event->last, which is now; start the event; stop it. From any thread.
 */
struct cpu_start cpu_source_plan(struct thread *thread, struct thread_event *event);
void cpu_source_start(const struct thread_event *event, struct cpu_start start);
void cpu_source_stop(const struct thread_event *event);

/* Whether a sample is due at the thread's CPU clock `now`. If not, arms the source for the rest. */
bool cpu_source_is_due(const struct thread *thread, struct thread_event *event, uint64_t now,
                       const siginfo_t *info, const ucontext_t *context);

/* Arms the source for the sample after that of event->last and event->measured_at. */
void cpu_source_arm(struct thread *thread, struct thread_event *event);

#endif
