#include "hpcrun/source/sample-source.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/source-perf.h"
#include "hpcrun/source/source-timer.h"
#include "hpcrun/thread/live-threads.h"

#include <sys/resource.h>

/* A sample that comes early by less than this, or than a 32nd of the period, is taken at once. Not
 * a first sample: it pays a period, not what was measured, so early ones would overcount short
 * threads. */
#define SLACK_NS 50000u

/* REALTIME samples waiting threads, too. If there are more threads than CPUs, each CPU takes at
 * most one sample in this time; otherwise thousands of threads would do nothing else. */
#define LEAST_NS_PER_SAMPLE 100000u

/* Counters by rate: the period to which the last thread has adapted; new threads begin with it. 0:
 * not known yet. */
static _Atomic uint64_t learned_period[MAX_EVENTS];

static struct {
    int signal;
    bool perf_clock; /* CPUTIME may use perf's task clock */
    char note[160];
} sources;

/* Each perf signal and each timer needs a queued signal. Without one, the kernel sends SIGIO
 * instead of the sampling signal, which may kill the program, or refuses the timer. */
static bool signals_can_queue(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    sys4(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, &limit);
    return limit.rlim_cur >= 64;
}

void sources_init(const struct config *config, int signal)
{
    (void)config;
    struct text note = TEXT(sources.note);
    sources.signal = signal;
    sources.note[0] = '\0';
    long result = perf_probe_task_clock();
    bool can_queue = signals_can_queue();
    sources.perf_clock = result == 0 && can_queue && !fds_are_scarce();
    if (result != 0)
        perf_explain_refusal(&note, result);
    else if (fds_are_scarce())
        text_add(&note, "RLIMIT_NOFILE is too low for perf events");
    if (!can_queue) {
        text_add(&note, sources.note[0] ? "; " : "");
        text_add(&note, "RLIMIT_SIGPENDING is too low for perf signals");
    }
}

const char *sources_fallback_reason(void)
{
    return sources.note;
}

/* A period uniform in half to one and a half times the mean. The width of this range is the mean
 * itself, so that consecutive samples are uncorrelated in a program that repeats itself with this
 * period or a fraction of it. With +-10 % they would stay correlated for dozens of samples. */
static uint64_t jittered(struct thread *thread, uint64_t mean)
{
    uint64_t half = mean / 2;
    return half ? mean - half + thread_random(thread, 2 * half + 1) : mean;
}

static _Atomic uint64_t *learned(const struct thread_event *event)
{
    return &learned_period[event->event - process.config.events];
}

static uint64_t first_count_period(const struct thread_event *event)
{
    uint64_t period = atomic_load_explicit(learned(event), memory_order_relaxed);
    return period ? period : event->event->period;
}

/* The mean period to use. A sample pays what it was armed with, so longer periods lose no time. */
static uint64_t mean_period(const struct thread_event *event)
{
    uint64_t threads = threads_live(), cpus = process.usable_cpus;
    if (event->event->interval)
        return first_count_period(event);
    if (event->source != SOURCE_MONOTONIC_TIMER || threads <= cpus)
        return event->period;
    uint64_t least = threads * LEAST_NS_PER_SAMPLE / cpus;
    return event->period > least ? event->period : least;
}

bool source_is_perf(const struct thread_event *event)
{
    return event->source == SOURCE_TASK_CLOCK || event->source == SOURCE_COUNTER;
}

/* The event's clock or count now; `cpu_clock` is its thread's. */
static uint64_t clock_of(const struct thread_event *event, clockid_t cpu_clock)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: return sys_clock(CLOCK_MONOTONIC);
    case SOURCE_COUNTER: return perf_count(event->fd);
    default: return sys_clock(cpu_clock);
    }
}

/* perf disables the event when it sends its signal, so a stopped clock means that a sample is due.
 */
bool source_has_lost_sample(const struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_TASK_CLOCK: return perf_count(event->fd) == perf_count(event->fd);
    case SOURCE_COUNTER: return perf_count(event->fd) >= event->due;
    default: return false;
    }
}

bool source_is_due(const struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: return sys_clock(CLOCK_MONOTONIC) >= event->due;
    case SOURCE_CPU_TIMER: return true;
    default: return source_has_lost_sample(event);
    }
}

static bool open_perf(struct thread_event *event, enum sample_source source)
{
    long fd = perf_open(event->event, sources.signal);
    if (fd < 0)
        return false;
    event->fd = (int)fd;
    event->source = source;
    return true;
}

static bool open_timer(clockid_t clock, struct thread_event *event, int *timer)
{
    long result = timer_open(clock, sources.signal, event);
    *timer = (int)result;
    return result >= 0;
}

static bool open_cpu_timers(struct thread_event *event)
{
    if (!open_timer(CLOCK_MONOTONIC, event, &event->timer))
        return false;
    if (!open_timer(CLOCK_THREAD_CPUTIME_ID, event, &event->cpu_timer)) {
        timer_close(event->timer);
        return false;
    }
    event->source = SOURCE_CPU_TIMER;
    return true;
}

void source_open(struct thread *thread, struct thread_event *event)
{
    bool opened = false;
    switch (event->event->kind) {
    case EVENT_CPUTIME:
        opened =
            (sources.perf_clock && open_perf(event, SOURCE_TASK_CLOCK)) || open_cpu_timers(event);
        break;
    case EVENT_REALTIME:
        opened = open_timer(CLOCK_MONOTONIC, event, &event->timer);
        if (opened)
            event->source = SOURCE_MONOTONIC_TIMER;
        break;
    case EVENT_COUNTER: opened = open_perf(event, SOURCE_COUNTER); break;
    }
    event->opened_as = event->source;
    if (opened)
        source_resume(thread, event);
}

void source_pause(struct thread_event *event)
{
    if (source_is_perf(event)) {
        perf_disable(event->fd);
    } else if (event->source) {
        timer_disarm(event->timer);
        if (event->source == SOURCE_CPU_TIMER)
            timer_disarm(event->cpu_timer);
    }
}

void source_close(struct thread_event *event)
{
    if (source_is_perf(event)) {
        fds_close(event->fd);
    } else if (event->source) {
        timer_close(event->timer);
        if (event->source == SOURCE_CPU_TIMER)
            timer_close(event->cpu_timer);
    }
    event->source = 0;
}

void source_abandon(struct thread_event *event)
{
    if (source_is_perf(event))
        fds_close(event->fd);
    event->source = 0;
}

/* Plans the next sample for `period` after event->last, which is about now. */
static void plan(struct thread_event *event, uint64_t period)
{
    event->armed = period;
    event->due = event->last + period;
}

/* Arms the event as planned. A wall-clock timer expires again after every mean period until the
 * handler arms it again. The interval must not be the planned period: the first one may be a few
 * hundred nanoseconds, and a thread that defers its signals would get no time to run. */
static void start(const struct thread_event *event, uint64_t period, uint64_t due, uint64_t mean)
{
    switch (event->source) {
    case SOURCE_TASK_CLOCK:
    case SOURCE_COUNTER: perf_enable(event->fd, period); break;
    case SOURCE_MONOTONIC_TIMER: timer_arm_at(event->timer, due, mean); break;
    default: timer_arm_once(event->timer, period); break;
    }
}

static void arm(struct thread_event *event, uint64_t period)
{
    plan(event, period);
    start(event, period, event->due, event->mean);
}

/* The thread's handler may run as soon as samples are unblocked, for a late signal; it then arms
 * the event, too, and may change the plan, hence the copies. If the thread stays in its handler,
 * nothing is done here: the handler arms the event at its end. */
void source_resume(struct thread *thread, struct thread_event *event)
{
    if (!event->source || !thread_block_samples(thread))
        return;
    clockid_t cpu_clock = sys_thread_clock(thread->tid); /* the caller may be another thread */
    event->first = true;
    event->last = clock_of(event, cpu_clock);
    event->last_cpu = sys_clock(cpu_clock);
    event->mean = mean_period(event);
    if (event->event->interval)
        event->period = event->mean; /* the first sample pays it */
    plan(event, 1 + thread_random(thread, event->mean));
    uint64_t period = event->armed, due = event->due, mean = event->mean;
    thread_unblock_samples(thread);
    start(event, period, due, mean);
}

/* Lengthens a REALTIME period so that the program gets at least as much time as the last sample
 * took. A sample of a very deep path can take longer than the period; since samples are due at
 * fixed times, the thread would never leave the handler. Ticks are at most a nanosecond long, so
 * the clocks are read only if the sample may have been too long. event->last may be in the future,
 * because a signal sent before the timer was armed again arrives before the sample is due. */
static uint64_t leave_time_for_program(const struct thread_event *event, uint64_t period)
{
    if (event->source != SOURCE_MONOTONIC_TIMER || ticks_now() - event->measured_at < period / 4)
        return period;
    uint64_t spent = sys_clock(CLOCK_THREAD_CPUTIME_ID) - event->last_cpu;
    uint64_t earliest = sys_clock(CLOCK_MONOTONIC) + spent;
    return earliest > event->last + period ? earliest - event->last : period;
}

/* After so many samples in a row with the same pc and sp, the thread may make no progress. An
 * access to the vDSO's clock page (kernel 6.18) counts a page fault, and a pending signal ends the
 * fault before the page is mapped: the access faults again. With a sample at every fault, that
 * never ends. */
#define MAX_REPEATS 64

static void note_place(struct thread_event *event, const ucontext_t *context)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    event->repeats = pc == event->pc && sp == event->sp ? event->repeats + 1 : 0;
    event->pc = pc;
    event->sp = sp;
}

/* Lets one occurrence pass without a sample if the thread may make no progress. The next sample
 * pays for it, since increments are counts. */
static uint64_t skip_one_if_stuck(struct thread_event *event, uint64_t period)
{
    if (event->repeats < MAX_REPEATS)
        return period;
    event->repeats = 0;
    return period + 1;
}

/* Samples come late by the time from expiry to handler and from there to arming. The period is
 * shortened by that, so that its mean is right. */
void source_arm(struct thread *thread, struct thread_event *event)
{
    uint64_t period =
        event->first ? 1 + thread_random(thread, event->mean) : jittered(thread, event->mean);
    period = skip_one_if_stuck(event, period > event->lag ? period - event->lag : 1);
    arm(event, leave_time_for_program(event, period));
}

/* Moving average of the samples' delays. A single long one (a blocked signal) counts as at most
 * half a period. */
static void update_lag(struct thread_event *event, uint64_t delta)
{
    uint64_t late = delta > event->armed ? delta - event->armed : 0;
    uint64_t most = event->period / 2;
    event->lag = (event->lag * 7 + (late < most ? late : most)) / 8;
}

struct thread_event *source_of_signal(struct thread *thread, const siginfo_t *info)
{
    for (unsigned i = 0; i < thread->event_count; i++) {
        struct thread_event *event = &thread->events[i];
        if (source_is_perf(event)
                ? info->si_code > 0 && info->si_fd == event->fd
                : event->source && info->si_code == SI_TIMER && info->si_value.sival_ptr == event)
            return event;
    }
    return NULL;
}

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

/* CPUTIME by timers: false if the thread has not used its period of CPU time yet; arms a timer for
 * the rest. */
static bool cpu_time_is_due(struct thread *thread, struct thread_event *event, uint64_t now,
                            const ucontext_t *context)
{
    uint64_t slack = event->first ? 0 : event->period / 32;
    if (slack > SLACK_NS)
        slack = SLACK_NS;
    if (now + slack >= event->due)
        return true;
    if (was_waiting(thread, context))
        timer_arm_once(event->cpu_timer, event->due - now);
    else
        timer_arm_once(event->timer, event->due - now);
    return false;
}

/* Updates the mean period, and corrects the increment. A sample stands for half of the period
 * before it and half of the one after it: the first sample comes after half a period on average and
 * pays a whole one; the time after the last sample is not paid. So when the mean changes, the
 * sample in between pays half of the difference more or less. */
static uint64_t change_mean(struct thread_event *event, uint64_t wall)
{
    uint64_t before = event->mean;
    event->mean = mean_period(event);
    if (event->mean >= before)
        return wall + (event->mean - before) / 2;
    uint64_t less = (before - event->mean) / 2;
    return wall > less ? wall - less : 0;
}

/* CPUTIME by perf: false if a first sample comes before the thread has used its period of CPU time;
 * then arms the event for the rest. perf's clock also runs while a virtual machine is halted, and
 * in interrupts; the thread's CPU clock does not. Later samples pay what was measured, so they are
 * right. */
static bool task_clock_is_due(struct thread_event *event, uint64_t now)
{
    if (!event->first || now >= event->due)
        return true;
    perf_enable(event->fd, event->due - now);
    return false;
}

static struct increment measure_wall_time(struct thread_event *event, const siginfo_t *info)
{
    struct increment result = {.fired = true};
    uint64_t overruns = info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0;
    uint64_t cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t overrun = overruns * event->mean; /* the interval that the timer was armed with */
    uint64_t wall = (event->first ? event->mean : event->armed) + overrun;
    wall = change_mean(event, wall);
    event->first = false;
    uint64_t on_cpu = cpu - event->last_cpu;
    event->last = event->due + overrun;
    event->last_cpu = cpu;
    event->measured_at = ticks_now();
    result.amount = wall << TIME_SHIFT;
    result.blocked = on_cpu < wall ? (wall - on_cpu) << TIME_SHIFT : 0;
    return result;
}

/* The amount that the first sample after a start pays: one period for each period that began before
 * it came (it may be late: a blocked signal, a halted machine). Since it was due at a random time
 * in a period, this is on average the time since the start. If it pays more than one, the next
 * sample is a first one again. */
static uint64_t first_delta(const struct thread_event *event, uint64_t now)
{
    uint64_t due = event->last + event->armed, late = now > due ? now - due : 0;
    return event->period * (1 + late / event->period);
}

/* A sample that is late by less than a period is not overdue: its signal may still come. */
struct increment source_overdue(struct thread_event *event)
{
    if (event->source != SOURCE_TASK_CLOCK && event->source != SOURCE_CPU_TIMER)
        return (struct increment){.fired = false};
    uint64_t now = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    if (now < event->due + event->period)
        return (struct increment){.fired = false};
    uint64_t delta = event->first ? first_delta(event, now) : now - event->last;
    event->first = false;
    event->last = now;
    event->due = now + event->armed;
    return (struct increment){.fired = true, .amount = delta << TIME_SHIFT};
}

/* Counters by rate: adapts the mean period, so that the thread's counts since its last sample would
 * make one sample per interval. The new mean takes a quarter of that, so that one burst changes
 * little: from 1 to 5 million takes 16 samples. A sample pays the count, whatever the period was.
 */
static void follow_rate(struct thread_event *event, uint64_t count)
{
    uint64_t now = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t elapsed = now > event->last_cpu ? now - event->last_cpu : 1;
    unsigned __int128 wanted = (unsigned __int128)count * event->event->interval / elapsed;
    uint64_t most = event->mean * 8, least = event->mean / 2;
    event->last_cpu = now;
    if (event->first)
        return; /* its count is of a random fraction of a period */
    if (wanted > most)
        wanted = most;
    if (wanted < least)
        wanted = least;
    event->mean = (event->mean * 3 + (uint64_t)wanted + 2) / 4;
    if (event->mean == 0)
        event->mean = 1;
    atomic_store_explicit(learned(event), event->mean, memory_order_relaxed);
}

struct increment source_measure(struct thread *thread, struct thread_event *event,
                                const siginfo_t *info, const ucontext_t *context)
{
    struct increment result;
    if (event->source == SOURCE_MONOTONIC_TIMER) {
        result = measure_wall_time(event, info);
    } else {
        uint64_t now = clock_of(event, CLOCK_THREAD_CPUTIME_ID);
        if (event->source == SOURCE_CPU_TIMER && !cpu_time_is_due(thread, event, now, context))
            return (struct increment){.fired = false};
        if (event->source == SOURCE_TASK_CLOCK && !task_clock_is_due(event, now))
            return (struct increment){.fired = false};
        uint64_t delta = event->first ? first_delta(event, now) : now - event->last;
        if (event->source != SOURCE_COUNTER && !event->first)
            update_lag(event, delta);
        if (event->event->interval)
            follow_rate(event, delta);
        if (event->source == SOURCE_COUNTER)
            note_place(event, context);
        event->first = event->first && delta > event->period;
        event->last = now;
        result = (struct increment){
            .fired = true,
            .amount = event->source == SOURCE_COUNTER ? delta : delta << TIME_SHIFT,
        };
    }
    return result;
}
