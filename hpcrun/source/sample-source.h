/* Signal handler: functions marked "Handler" run there.
 *
 * Sample sources: what sends the signals of an event, and the increment that each signal stands
 * for.
 *
 *   event      source                                      increment
 *   CPUTIME    POSIX timers on CLOCK_MONOTONIC in turns,   thread CPU time since the last sample
 *              across waits perf task-clock or a timer on
 *              the CPU clock (cpu-time-source.h)
 *   REALTIME   POSIX timers on CLOCK_MONOTONIC in turns    planned time since the last sample
 *              (wall-clock-source.h)
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
 * Why timers, for users who may use perf, too: `make bench BENCH=sources` measures the CPU time per
 * sample and the part of it that the handler spends arming, in ns.
 *
 *   source                               ns/sample  quartiles   arming
 *   perf, one overflow, random period        37200  32100-44000   8530
 *   perf, one overflow, same period          34300  30100-44900   7390
 *   perf, runs on                            34100  24900-43200      -
 *   perf, runs on, random period             44500  32500-53000  13810
 *   perf, runs on, SIGTRAP                   20000  14200-25100      -
 *   perf, runs on, no signal                 15100  11700-20000      -
 *   timer, once, random period               20100  18500-22100   6080
 *   timer, repeats                           20800  16400-29800      -
 *   timer, repeats, random period            32000  24700-39300  11330
 *   two timers in turns, random period       17200  13200-23900    840
 *
 * (23 November 2026; 1 thread at 5000/s, loop in 16 KiB, medians of 15 alternating pairs; Linux
 * 6.18, AMD EPYC, virtual machine with 2 CPUs. With other load the order was the same: 59700 for
 * perf with random periods, 40300 for one timer, 29900 for two in turns.) So:
 *
 * - The interrupt itself, at the time of a sample, costs most (15100), whatever the source.
 * - perf sends its signal from a second interrupt: +14000 against SIGTRAP, which needs none but is
 *   the debuggers' signal.
 * - In a virtual machine, each programming of the clock hardware costs 3400: timer_settime takes
 *   3840 if its timer becomes the next one to expire, 590 if not. The kernel programs it at the end
 *   of every clock interrupt, for what is next then: with timers in turns for the next sample.
 * - Reading the thread's CPU clock takes 520 (1400 in a handler, with cold caches). perf's mmap
 *   page has no clock here (cap_user_time is 0).
 */
#ifndef HPCRUN_SOURCE_SAMPLE_SOURCE_H
#define HPCRUN_SOURCE_SAMPLE_SOURCE_H

#include "hpcrun/source/increment.h"
#include "hpcrun/thread/thread.h"

/* Chooses the source of CPUTIME. Normal context, once per process image. */
void sources_init(const struct config *config, int signal);

/* Why CPUTIME does not use perf's task clock; "" if it does. */
const char *sources_fallback_reason(void);

/* The number of threads so far that could not open the event with this index. */
uint32_t sources_refused(unsigned event);

/* In the child of a fork, after source_abandon. */
void sources_after_fork(void);

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
