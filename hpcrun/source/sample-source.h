/* Signal handler: what is said so below runs there.
 *
 * Sample sources: how the signals of an event come about, and what each stands for.
 *
 *   event      source                                      increment
 *   CPUTIME    perf task-clock, one outstanding signal     thread CPU time since the last sample
 *              POSIX timers                                the same
 *   REALTIME   POSIX timer on CLOCK_MONOTONIC              period + overruns x P
 *   counters   perf event, one outstanding signal          count since the last sample
 *
 * The period of a counter is a fixed count, or by rate: it follows the thread's counts so that
 * there is a sample per interval of the thread's CPU time. perf's own frequency mode does that by
 * the wall clock, tells nobody its period, which first samples pay, and draws no random ones.
 *
 * Every period is uniform in half to one and a half times its mean P; the first after a start is
 * uniform in (0, P] and pays P, so that threads shorter than a period recover their time on
 * average. One that is late pays P for each period that began before it came; where that is more
 * than one, the next sample is a first one again.
 *
 * CPUTIME with POSIX timers: a timer on the thread's CPU clock expires at scheduler ticks only. So
 * the next sample is waited for with CLOCK_MONOTONIC, which is exact and no slower than the CPU
 * clock: when its signal comes too early, the thread has waited or was preempted in between; after
 * a wait the rest is left to the CPU clock's timer, whose next tick finds the thread running. */
#ifndef HPCRUN_SOURCE_SAMPLE_SOURCE_H
#define HPCRUN_SOURCE_SAMPLE_SOURCE_H

#include "hpcrun/thread/thread.h"

/* What a signal means. Amounts are in the event's fixed point. */
struct increment {
    bool fired;       /* false: no sample, the source has armed itself again */
    uint64_t amount;  /* what the sample stands for */
    uint64_t kernel;  /* the part of it that ran in the kernel, out of the source's sight */
    uint64_t blocked; /* EVENT_REALTIME: the part of it that the thread was not on a CPU */
};

/* Decides how this process samples CPU time (normal context, once per process image). */
void sources_init(const struct config *config, int signal);

/* Why CPUTIME does not use its preferred source; "" when it does. */
const char *sources_fallback_reason(void);

/* Opens and starts an event for the calling thread (normal context, signals blocked). On failure
 * the event stays closed. */
void source_open(struct thread *thread, struct thread_event *event);

/* Stops and closes it; safe on a closed one. From any thread. Accounts a tail that a source without
 * sight of the kernel has missed. */
void source_close(struct thread_event *event);

/* In the child of a fork: closes what is only a copy of the parent's. */
void source_abandon(struct thread_event *event);

/* Stops an open event, or starts it anew with a random first phase. From any thread. */
void source_pause(struct thread_event *event);
void source_resume(struct thread *thread, struct thread_event *event);

/* Handler: the event of this thread that the signal belongs to, or NULL. */
struct thread_event *source_of_signal(struct thread *thread, const siginfo_t *info);

/* Handler: what the signal stands for; advances the event's clock. */
struct increment source_measure(struct thread *thread, struct thread_event *event,
                                const siginfo_t *info, const ucontext_t *context);

/* At the end of the calling thread, with its signals blocked: what a sample of CPU time stands for
 * that was due at least a period ago and has not come, as the kernel was late or the program kept
 * the signal away; advances the event's clock. Nothing is fired where none is. */
struct increment source_overdue(struct thread_event *event);

/* Handler: whether the event is open, and samples come from perf. */
bool source_is_perf(const struct thread_event *event);

/* Handler: whether a sample of perf's is due that no signal told of. */
bool source_has_lost_sample(const struct thread_event *event);

/* Handler: whether a sample of any source may be due; its signal has been taken, and said nothing.
 * Where none is, source_measure arms the source again. */
bool source_is_due(const struct thread_event *event);

/* Handler: arms the next sample. */
void source_arm(struct thread *thread, struct thread_event *event);

#endif
