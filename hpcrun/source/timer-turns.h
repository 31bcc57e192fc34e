/* Signal handler: everything but turns_open and turns_close runs there.
 *
 * Two timers on CLOCK_MONOTONIC that send a thread's signals in turns. Each expires once. Both are
 * armed at any time, for the next sample and for the one after it. When one expires, the kernel
 * programs the clock hardware for the other, so that the handler puts the expired one behind it with
 * one cheap system call (sample-source.h says what that saves):
 *
 *   wall clock  ──────A──────────B────────A───────────────B──────▶
 *                     │ signal            ▲
 *                     └ handler arms A ───┘
 *
 * There may be one timer only (source-timer.h): then each sample arms it for the next one. */
#ifndef HPCRUN_SOURCE_TIMER_TURNS_H
#define HPCRUN_SOURCE_TIMER_TURNS_H

#include "hpcrun/source/source-timer.h"
#include "hpcrun/thread/thread.h"

/* Creates the timers; without the first one there is no second one either. */
static inline void turns_open(struct thread_event *event, enum timer_need need, int signal)
{
    event->timers[0] = (int)timer_open(need, CLOCK_MONOTONIC, signal, event);
    event->timers[1] = event->timers[0] < 0
                           ? -1
                           : (int)timer_open(TIMER_SPARE, CLOCK_MONOTONIC, signal, event);
}

static inline bool turns_are_two(const struct thread_event *event)
{
    return event->timers[1] >= 0;
}

static inline void turns_close(const struct thread_event *event)
{
    for (unsigned i = 0; i < 2; i++)
        if (event->timers[i] >= 0)
            timer_close(event->timers[i]);
}

/* Arms timers[turn] for `next`, and the other one for `then`, which is later: arming it is cheap. */
static inline void turns_start(const struct thread_event *event, unsigned turn, uint64_t next,
                               uint64_t then)
{
    timer_arm_at(event->timers[turn], next);
    if (turns_are_two(event))
        timer_arm_at(event->timers[!turn], then);
}

static inline void turns_stop(const struct thread_event *event)
{
    for (unsigned i = 0; i < 2; i++)
        if (event->timers[i] >= 0)
            timer_disarm(event->timers[i]);
}

/* Whether the signal is that of the timer whose turn it is, of two. */
static inline bool turns_is_next(const struct thread_event *event, const siginfo_t *info)
{
    return info->si_code == SI_TIMER && turns_are_two(event) &&
           info->si_timerid == event->timers[event->turn];
}

/* Arms the timer that has sent that signal for event->wall. The other one's turn is next. */
static inline void turns_pass(struct thread_event *event)
{
    timer_arm_at(event->timers[event->turn], event->wall);
    event->turn = !event->turn;
}

#endif
