#include "hpcrun/source/sample-source.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/source-perf.h"
#include "hpcrun/source/source-timer.h"
#include "hpcrun/thread/live-threads.h"

#include <sys/resource.h>

/* A wait shorter than this, or than a 32nd of the period, is not waited for. A first sample does
 * not pay what was measured but a period: it must not come early, or short threads have too many.
 */
#define SLACK_NS 50000u

/* Threads that wait are sampled by the wall clock as those that run are. Where there are more of
 * them than CPUs, a CPU gets no more than a sample in this time, or thousands of threads would do
 * nothing else. */
#define LEAST_NS_PER_SAMPLE 100000u

/* Counters by rate: what other threads have found to be the period for the rate. A new thread
 * begins with it. 0: none has. */
static _Atomic uint64_t learned_period[MAX_EVENTS];

static struct {
    int signal;
    bool perf_clock; /* CPUTIME may use perf's task clock */
    char note[160];
} sources;

/* Perf signals and timers need a queued signal each; with none allowed, the kernel sends SIGIO
 * instead of ours, which kills, or refuses timers. */
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
    sources.perf_clock = result == 0 && signals_can_queue() && !fds_are_scarce();
    if (result != 0) {
        perf_explain_refusal(&note, result);
    } else if (fds_are_scarce()) {
        text_add(&note, "RLIMIT_NOFILE is too low for perf events");
    } else if (!sources.perf_clock) {
        text_add(&note, "RLIMIT_SIGPENDING is too low for perf signals");
    }
}

const char *sources_fallback_reason(void)
{
    return sources.note;
}

/* A period uniform in half to one and a half times the mean. Its spread is the mean itself, so that
 * consecutive samples are uncorrelated for a program that repeats itself with this period or a
 * fraction of it; with 10 % either way they would still move along together for dozens of samples.
 */
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

/* The mean period to arm with. Amounts are what a sample was armed with: longer ones lose nothing.
 */
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

/* The event's clock or count; `cpu_clock` is that of its thread. */
static uint64_t clock_of(const struct thread_event *event, clockid_t cpu_clock)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: return sys_clock(CLOCK_MONOTONIC);
    case SOURCE_COUNTER: return perf_count(event->fd);
    default: return sys_clock(cpu_clock);
    }
}

/* The clock of an event that is enabled does not stand still. */
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

/* The next sample is `period` after `event->last`, which is about now. */
static void plan(struct thread_event *event, uint64_t period)
{
    event->armed = period;
    event->due = event->last + period;
}

/* Arms the event as planned. A wall-clock timer expires again every mean period until the handler
 * arms it anew: the planned period may be a first one of a few hundred nanoseconds, and a timer
 * with such an interval leaves a thread that defers its signals no time to run. */
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

/* The thread's handler may run as soon as it is let go, for a sample that was late: then it arms
 * the event, too, and owns what is planned. One that it does not come out of arms the event at its
 * end. */
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
        event->period = event->mean; /* what the first sample pays */
    plan(event, 1 + thread_random(thread, event->mean));
    uint64_t period = event->armed, due = event->due, mean = event->mean;
    thread_unblock_samples(thread);
    start(event, period, due, mean);
}

/* REALTIME's samples are due at times that are set, whatever the thread gets done before. One of a
 * very deep path can take longer than the period: the thread gets as much time behind it as it
 * took, or it would be in the handler for ever. Time stamp ticks are no longer than ns; the clocks
 * are asked only where they tell something. A signal that was on its way when its timer was armed
 * anew comes before the sample is due: `last` is yet to come then. */
static uint64_t leave_time(const struct thread_event *event, uint64_t period)
{
    if (event->source != SOURCE_MONOTONIC_TIMER || ticks_now() - event->measured_at < period / 4)
        return period;
    uint64_t spent = sys_clock(CLOCK_THREAD_CPUTIME_ID) - event->last_cpu;
    uint64_t earliest = sys_clock(CLOCK_MONOTONIC) + spent;
    return earliest > event->last + period ? earliest - event->last : period;
}

/* So many samples in a row at one instruction and stack pointer, and the thread may be standing
 * still. An access to the vDSO's clock page (kernel 6.18) counts a page fault, and a signal that is
 * pending then ends the fault before the page is there: the access faults again, and a sample at
 * every fault leaves the program there for ever. */
#define MAX_REPEATS 64

static void note_place(struct thread_event *event, const ucontext_t *context)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    event->repeats = pc == event->pc && sp == event->sp ? event->repeats + 1 : 0;
    event->pc = pc;
    event->sp = sp;
}

/* One occurrence passes without a sample where the thread may be standing still. Increments are
 * counts, so it is paid by the next sample. */
static uint64_t skip_one_if_stuck(struct thread_event *event, uint64_t period)
{
    if (event->repeats < MAX_REPEATS)
        return period;
    event->repeats = 0;
    return period + 1;
}

/* Samples come late by the time from the expiry to the handler, and from there to the arming: less
 * is armed by as much, so that the mean period is kept. */
void source_arm(struct thread *thread, struct thread_event *event)
{
    uint64_t period =
        event->first ? 1 + thread_random(thread, event->mean) : jittered(thread, event->mean);
    period = skip_one_if_stuck(event, period > event->lag ? period - event->lag : 1);
    arm(event, leave_time(event, period));
}

/* A moving average of the last samples' delays. Single long ones (a signal that was blocked) count
 * as no more than half a period. */
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

/* Whether the signal found the thread waiting in a system call: the call was interrupted (pc is
 * behind the instruction and the result says so), or will be restarted (pc is on it). */
static bool was_waiting(const struct thread *thread, const ucontext_t *context)
{
    uint8_t code[2];
    const greg_t *reg = context->uc_mcontext.gregs;
    uint64_t call = (uint64_t)reg[REG_RIP] - (reg[REG_RAX] == -EINTR ? sizeof code : 0);
    bool armed = guard_is_armed(context->uc_sigmask.__val[0], thread->unwinder.fault_handler);
    return guard_copy(code, call, sizeof code, armed) && code[0] == 0x0f && code[1] == 0x05;
}

/* CPUTIME by timers: false when the thread has not used the CPU for its period yet; then waits on.
 */
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

/* A sample stands for half of the period before it and half of the one behind it: the first one,
 * that came after half a period on average, pays a whole one, and the time after the last one is
 * lost. Where the mean changes, the sample between pays half of the difference, more or less. */
static uint64_t change_mean(struct thread_event *event, uint64_t wall)
{
    uint64_t before = event->mean;
    event->mean = mean_period(event);
    if (event->mean >= before)
        return wall + (event->mean - before) / 2;
    uint64_t less = (before - event->mean) / 2;
    return wall > less ? wall - less : 0;
}

/* CPUTIME by perf: false when a first sample has come before the thread has used its period; then
 * waits on. Perf's clock runs on where the thread's CPU clock does not: while a virtual machine is
 * halted, or in interrupts. Later samples pay what was measured, which makes them right. */
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

/* What the first sample after a start pays: a period for each that began before it came, however
 * late (the signal was blocked, the machine halted). As the first was due at a random time of a
 * period, that is the time since the start on average; the next sample is the first of a new start
 * then. */
static uint64_t first_delta(const struct thread_event *event, uint64_t now)
{
    uint64_t due = event->last + event->armed, late = now > due ? now - due : 0;
    return event->period * (1 + late / event->period);
}

/* A sample that is a little late is as good as on its way. */
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

/* Counters by rate: the mean period that makes the thread's counts since its last sample one sample
 * per interval. A quarter of it is taken over, so that one burst does not change much: from 1 to
 * 5 million takes 16 samples. What a sample pays is the count, whatever the period was. */
static void follow_rate(struct thread_event *event, uint64_t count)
{
    uint64_t now = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t elapsed = now > event->last_cpu ? now - event->last_cpu : 1;
    unsigned __int128 wanted = (unsigned __int128)count * event->event->interval / elapsed;
    uint64_t most = event->mean * 8, least = event->mean / 2;
    event->last_cpu = now;
    if (event->first)
        return; /* its count is of a random part of a period */
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
