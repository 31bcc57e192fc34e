/* Signal handler: functions marked "Handler" run there.
 *
 * Sample sources: what sends the signals of an event, and the increment that each signal stands
 * for.
 *
 *   event      source                                      increment
 *   CPUTIME    perf task-clock, one outstanding signal     thread CPU time since the last sample
 *              POSIX timers                                the same
 *   REALTIME   POSIX timer on CLOCK_MONOTONIC              period + overruns x P
 *   counters   perf event, one outstanding signal          count since the last sample
 *
 * The period of a counter is a fixed count, or follows a rate: then it is adapted to the thread's
 * counts so that there is one sample per interval of the thread's CPU time. (perf's own frequency
 * mode follows the wall clock, does not tell its period, which first samples pay, and has no random
 * periods.)
 *
 * Every period is uniform in half to one and a half times its mean P. The first period after a
 * start is uniform in (0, P], and its sample pays P, so that threads shorter than a period get
 * their time on average. A first sample that is late pays P for each period that began before it
 * came; if that is more than one, the next sample is a first one again.
 *
 * CPUTIME with POSIX timers: a timer on the thread's CPU clock expires at scheduler ticks only. So
 * the next sample is timed with CLOCK_MONOTONIC, which is exact, and never slower than the CPU
 * clock. If its signal comes too early, the thread has waited or was preempted. If it has waited,
 * the timer on the CPU clock is armed for the rest: its next tick finds the thread running. */
#ifndef HPCRUN_SOURCE_SAMPLE_SOURCE_H
#define HPCRUN_SOURCE_SAMPLE_SOURCE_H

#include "hpcrun/thread/thread.h"

/* The time or count that a signal stands for, in the event's fixed point. */
struct increment {
    bool fired;       /* false: no sample; the source is armed again */
    uint64_t amount;  /* time or count */
    uint64_t blocked; /* EVENT_REALTIME: the part of `amount` in which the thread was off the CPU */
};

/* Chooses the source of CPUTIME. Normal context, once per process image. */
void sources_init(const struct config *config, int signal);

/* Why CPUTIME does not use perf's task clock; "" if it does. */
const char *sources_fallback_reason(void);

/* Opens and starts an event for the calling thread. Normal context, signals blocked. On failure the
 * event stays closed. */
void source_open(struct thread *thread, struct thread_event *event);

/* Stops and closes an event; does nothing if it is closed. From any thread. */
void source_close(struct thread_event *event);

/* In the child of a fork: closes the copy of the parent's event. */
void source_abandon(struct thread_event *event);

/* Stops an open event, or restarts it with a random first period. From any thread. */
void source_pause(struct thread_event *event);
void source_resume(struct thread *thread, struct thread_event *event);

/* Handler: the event of this thread that the signal belongs to, or NULL. */
struct thread_event *source_of_signal(struct thread *thread, const siginfo_t *info);

/* Handler: the increment that the signal stands for. Advances event->last. */
struct increment source_measure(struct thread *thread, struct thread_event *event,
                                const siginfo_t *info, const ucontext_t *context);

/* At the end of the calling thread, with its signals blocked: the increment of a CPUTIME sample
 * that was due at least a period ago and has not come, since the kernel was late or the program
 * held the signal back. Advances event->last. Not fired if no sample is overdue. */
struct increment source_overdue(struct thread_event *event);

/* Handler: whether the event is open as a perf event. */
bool source_is_perf(const struct thread_event *event);

/* Handler: whether perf has a sample for which no signal came. */
bool source_has_lost_sample(const struct thread_event *event);

/* Handler: whether a sample may be due, for a signal that does not name its event. If none is due,
 * source_measure arms the source again. */
bool source_is_due(const struct thread_event *event);

/* Handler: arms the next sample. */
void source_arm(struct thread *thread, struct thread_event *event);

#endif
