#include "hpcrun/source/cpu-time-source.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/kernel-frames.h"
#include "hpcrun/source/random-period.h"
#include "hpcrun/source/source-perf.h"
#include "hpcrun/source/timer-turns.h"

#include <sys/resource.h>

/* A sample that comes early by less than this, or than a 32nd of the period, is taken at once. Not
 * a first sample: it pays a period, not what was measured, so early ones would overcount short
 * threads. */
#define SLACK_NS 50000u

/* A thread that runs for less than SHORT_TURN_NS of CPU time from one wait to the next, on average over at least LOOK_NS,
 * has its samples at ticks. LOOK_NS is several ticks: a sample that is due in a wait between long turns would come in the
 * turn after it. */
#define SHORT_TURN_NS 100000u
#define LOOK_NS       20000000u

/* ---- open and close ---- */

#define NOT_OPENED (-1) /* cpu_timer: not tried yet; another number below 0: it can't be opened */

static void close_timers(const struct thread_event *event)
{
    turns_close(event);
    if (event->cpu_timer >= 0)
        timer_close(event->cpu_timer);
}

/* Where the user's signals are short, perf or the timer on the CPU clock does without the others. Only perf's samples
 * have the kernel's frames: for these, it times all. */
bool cpu_source_open(struct thread_event *event, int signal, bool with_perf)
{
    event->cpu_timer = NOT_OPENED;
    event->signal = signal;
    event->fd = with_perf ? (int)perf_open(event->event, signal) : -1;
    if (event->fd < 0)
        event->cpu_timer =
            (int)timer_open(TIMER_NEEDED, CLOCK_THREAD_CPUTIME_ID, signal, event);
    if (event->fd < 0 && event->cpu_timer < 0)
        return false;
    event->source = event->fd >= 0 ? SOURCE_TASK_CLOCK : SOURCE_CPU_TIMER;
    event->has_short_turns = false;
    event->waits = event->looked_at = 0;
    if (event->fd >= 0 && event->event->options & EVENT_KERNEL_FRAMES)
        kernel_frames_open(event);
    if (event->ring)
        event->timers[0] = event->timers[1] = -1;
    else
        turns_open(event, TIMER_SPARE, signal);
    return true;
}

void cpu_source_close(struct thread_event *event)
{
    if (event->source == SOURCE_TASK_CLOCK)
        fds_close(event->fd);
    kernel_frames_close(event);
    close_timers(event);
}

/* ---- start and stop ---- */

struct cpu_start cpu_source_plan(struct thread *thread, struct thread_event *event)
{
    uint64_t wall = sys_clock(CLOCK_MONOTONIC);
    event->by_cpu_clock = event->timers[0] < 0;
    event->turn = 0;
    event->armed = random_first_period(thread, event->mean);
    event->after = random_period(thread, event->mean);
    event->due = event->last + event->armed;
    event->wall = wall + event->armed + event->after;
    return (struct cpu_start){
        .period = event->armed, .next = wall + event->armed, .then = event->wall};
}

void cpu_source_start(const struct thread_event *event, struct cpu_start start)
{
    if (event->timers[0] >= 0)
        turns_start(event, 0, start.next, start.then);
    else if (event->source == SOURCE_TASK_CLOCK)
        perf_enable(event->fd, start.period);
    else
        timer_arm_once(event->cpu_timer, start.period);
}

void cpu_source_stop(const struct thread_event *event)
{
    if (event->source == SOURCE_TASK_CLOCK)
        perf_disable(event->fd);
    if (event->cpu_timer >= 0)
        timer_disarm(event->cpu_timer);
    turns_stop(event);
}

/* ---- signals that come too early ---- */

/* Whether the signal interrupted a waiting system call: pc is behind the instruction and the result
 * is -EINTR, or pc is at the instruction, which will be restarted. */
static bool was_waiting(const struct thread *thread, const ucontext_t *context)
{
    uint8_t code[2];
    const greg_t *reg = context->uc_mcontext.gregs;
    uint64_t call = (uint64_t)reg[REG_RIP] - (reg[REG_RAX] == -EINTR ? sizeof code : 0);
    bool armed = guard_is_armed(context->uc_sigmask.__val[0], thread->unwinder.fault_handler);
    return guard_copy(code, call, sizeof code, armed) && code[0] == 0x0f && code[1] == 0x05;
}

/* Opens the timer where perf is, too, when a thread first needs it: each thread may need it, but few do. */
static bool has_cpu_timer(struct thread_event *event)
{
    if (event->cpu_timer == NOT_OPENED)
        event->cpu_timer = (int)timer_open(TIMER_SPARE, CLOCK_THREAD_CPUTIME_ID, event->signal, event);
    return event->cpu_timer >= 0;
}

/* Whether the thread had waited more often than each SHORT_TURN_NS at the last look, which may be this one. That another
 * one took its CPU does not count: the wall clock's signals tell what it did then. Without timers, perf times all
 * samples. So it does where a filter may end the process for the call. */
static bool look_at_turns(struct thread_event *event, uint64_t now)
{
    struct rusage usage;
    uint64_t ran = now - event->looked_at;
    if (ran < LOOK_NS)
        return event->has_short_turns;
    if (event->timers[0] < 0 || process_is_restricted() || sys2(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return event->has_short_turns = false;
    uint64_t waits = (uint64_t)usage.ru_nvcsw, more = waits - event->waits;
    event->waits = waits;
    event->looked_at = now;
    return event->has_short_turns = ran < more * SHORT_TURN_NS && has_cpu_timer(event);
}

/* The CPU clock times the sample, `rest` from now; perf's signal comes `lag` later than that. */
static void start_cpu_clock(const struct thread_event *event, uint64_t rest, uint64_t lag)
{
    if (cpu_source_is_on_perf(event))
        perf_enable(event->fd, rest > lag ? rest - lag : 1);
    else
        timer_arm_once(event->cpu_timer, rest);
}

/* The thread waits, or does so often: its CPU clock times the sample. */
static void arm_by_cpu_clock(struct thread_event *event, uint64_t now)
{
    if (!event->by_cpu_clock) {
        turns_stop(event);
        event->by_cpu_clock = true;
        event->wall = sys_clock(CLOCK_MONOTONIC);
        event->last_cpu = now;
    }
    start_cpu_clock(event, event->due - now, 0);
}

/* The wall clock times the next sample, `rest` from now, and the one after it; without its timers, the
 * CPU clock does. */
static void arm_timers(struct thread_event *event, uint64_t rest)
{
    if (event->timers[0] < 0) {
        timer_arm_once(event->cpu_timer, rest);
        return;
    }
    uint64_t next = sys_clock(CLOCK_MONOTONIC) + rest;
    event->by_cpu_clock = false;
    event->wall = next + event->after;
    turns_start(event, event->turn, next, event->wall);
}

static uint64_t slack_of(const struct thread_event *event)
{
    uint64_t slack = event->first ? 0 : event->period / 32;
    return slack < SLACK_NS ? slack : SLACK_NS;
}

/* Moving average of the delays of perf's samples. A single long one (a blocked signal) counts as at
 * most half a period. */
static void update_lag(struct thread_event *event, uint64_t delta)
{
    uint64_t late = delta > event->armed ? delta - event->armed : 0;
    uint64_t most = event->period / 2;
    event->lag = (event->lag * 7 + (late < most ? late : most)) / 8;
}

/* On perf, a timer's signal is one that was sent before the timer was disarmed. perf's signal is
 * never early but for the difference of two clocks: perf's also runs while a virtual machine is
 * halted, and in interrupts. Only a first sample must not be early. */
bool cpu_source_is_due(const struct thread *thread, struct thread_event *event, uint64_t now,
                       const siginfo_t *info, const ucontext_t *context)
{
    bool on_perf = cpu_source_is_on_perf(event), from_timer = info->si_code == SI_TIMER;
    event->is_turn = !event->by_cpu_clock && turns_is_next(event, info);
    if (on_perf && from_timer)
        return false;
    if (on_perf && !event->first) {
        update_lag(event, now - event->last);
        return true;
    }
    if (now >= event->due)
        return true;
    bool waited = was_waiting(thread, context);
    if (!waited && !event->has_short_turns && now + slack_of(event) >= event->due)
        return true;
    if (look_at_turns(event, now) || on_perf || waited)
        arm_by_cpu_clock(event, now);
    else
        arm_timers(event, event->due - now);
    return false;
}

/* ---- the next sample ---- */

/* Whether the CPU clock times the next sample, too: the thread waits often; or perf is there, and the thread had the
 * CPU for less than half of the time since the last sample by that clock; or there are no timers. */
static bool stays_on_cpu_clock(struct thread_event *event)
{
    if (event->by_cpu_clock && look_at_turns(event, event->last))
        return true;
    if (event->source == SOURCE_CPU_TIMER || !event->by_cpu_clock || event->timers[0] < 0)
        return cpu_source_is_on_perf(event);
    uint64_t wall = sys_clock(CLOCK_MONOTONIC);
    bool stays = wall - event->wall > 2 * (event->last - event->last_cpu);
    event->wall = wall;
    event->last_cpu = event->last;
    return stays;
}

/* Arms both timers for the sample at `due`. If this sample was slow, `due` moves: the program gets
 * at least as much time as the sample took, or it would make no progress. The new `due` tells stale
 * signals apart, which kernels before 6.13 deliver from timers that were armed again. Before the
 * first sample `due` does not move, since that sample pays for its delay; but if this sample took a
 * whole period, the next one pays what is measured. */
static void returns_start(struct thread *thread, struct thread_event *event)
{
    uint64_t now = sys_clock(CLOCK_THREAD_CPUTIME_ID), spent = now - event->last;
    uint64_t rest = event->armed > spent ? event->armed - spent : 0;
    if (rest < spent)
        rest = spent;
    if (spent >= event->mean)
        event->first = false;
    if (!event->first)
        event->due = now + rest;
    event->after = random_period(thread, event->mean);
    arm_timers(event, rest);
}

/* Whether the timer whose turn it is expires late enough to leave the program as much time as this
 * sample took. Ticks are at most a nanosecond long. */
static bool can_take_turns(const struct thread_event *event)
{
    uint64_t spent = ticks_now() - event->measured_at;
    return event->is_turn && !event->first && event->due + event->after > event->last + 2 * spent;
}

/* Samples come late by the time from expiry to handler. Timers take turns at planned times, so that
 * this does not add up. perf's periods are shortened by it: the mean is right then. */
void cpu_source_arm(struct thread *thread, struct thread_event *event)
{
    if (can_take_turns(event)) {
        event->armed = event->after;
        event->due += event->armed;
        event->after = random_period(thread, event->mean);
        event->wall += event->after;
        turns_pass(event);
        return;
    }
    event->armed = event->first ? random_first_period(thread, event->mean)
                                : random_period(thread, event->mean);
    event->due = event->last + event->armed;
    if (stays_on_cpu_clock(event))
        start_cpu_clock(event, event->armed, event->lag);
    else
        returns_start(thread, event);
}
