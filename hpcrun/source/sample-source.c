#include "hpcrun/source/sample-source.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/cpu-time-source.h"
#include "hpcrun/source/kernel-frames.h"
#include "hpcrun/source/random-period.h"
#include "hpcrun/source/source-perf.h"
#include "hpcrun/source/source-timer.h"
#include "hpcrun/source/wall-clock-source.h"
#include "hpcrun/thread/live-threads.h"

#include <sys/resource.h>

/* Counters by rate: the period to which the last thread has adapted; new threads begin with it. 0:
 * not known yet. */
static _Atomic uint64_t learned_period[MAX_EVENTS];

/* By event: threads that could not open it. */
static _Atomic uint32_t refused[MAX_EVENTS];

static struct {
    int signal;
    bool perf_clock; /* CPUTIME may use perf's task clock */
    char note[160];
} sources;

static bool signals_can_queue(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    sys4(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, &limit);
    return limit.rlim_cur >= LEAST_QUEUED_SIGNALS;
}

void sources_init(const struct config *config, int signal)
{
    (void)config;
    struct text note = TEXT(sources.note);
    sources.signal = signal;
    sources.note[0] = '\0';
    long result = perf_probe_task_clock();
    bool can_queue = signals_can_queue();
    sources.perf_clock = result == 0 && can_queue && !fds_are_few();
    if (result != 0)
        perf_explain_refusal(&note, result);
    else if (fds_are_few())
        text_add(&note, "RLIMIT_NOFILE is too low for perf events");
    if (!can_queue) {
        text_add(&note, sources.note[0] ? "; " : "");
        text_add(&note, "RLIMIT_SIGPENDING is too low");
    }
}

const char *sources_fallback_reason(void)
{
    return sources.note;
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
    if (event->event->interval)
        return first_count_period(event);
    return event->source == SOURCE_MONOTONIC_TIMER ? wall_source_mean(event) : event->period;
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
    if (event->source == SOURCE_COUNTER)
        return perf_count(event->fd) >= event->due;
    return cpu_source_is_on_perf(event) && perf_count(event->fd) == perf_count(event->fd);
}

bool source_is_due(const struct thread_event *event)
{
    if (event->source == SOURCE_MONOTONIC_TIMER)
        return sys_clock(CLOCK_MONOTONIC) >= event->due;
    if (is_cpu_source(event) && !cpu_source_is_on_perf(event))
        return true;
    return source_has_lost_sample(event);
}

static bool open_counter(struct thread_event *event)
{
    event->fd = (int)perf_open(event->event, sources.signal);
    if (event->fd < 0)
        return false;
    event->source = SOURCE_COUNTER;
    if (event->event->options & EVENT_KERNEL_FRAMES)
        kernel_frames_open(event);
    return true;
}

void source_open(struct thread *thread, struct thread_event *event)
{
    bool opened = false;
    event->ring = NULL; /* one of the parent of a fork is not mapped in the child */
    switch (event->event->kind) {
    case EVENT_CPUTIME: opened = cpu_source_open(event, sources.signal, sources.perf_clock); break;
    case EVENT_REALTIME: opened = wall_source_open(event, sources.signal); break;
    case EVENT_COUNTER: opened = open_counter(event); break;
    }
    event->opened_as = event->source;
    if (opened)
        source_resume(thread, event);
    else
        atomic_fetch_add(&refused[event->event - process.config.events], 1);
}

uint32_t sources_refused(unsigned event)
{
    return atomic_load(&refused[event]);
}

void sources_after_fork(void)
{
    timers_after_fork();
    kernel_frames_after_fork();
    for (unsigned event = 0; event < MAX_EVENTS; event++)
        atomic_store(&refused[event], 0);
}

void source_pause(struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: wall_source_stop(event); break;
    case SOURCE_COUNTER: perf_disable(event->fd); break;
    default:
        if (is_cpu_source(event))
            cpu_source_stop(event);
    }
}

void source_close(struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: wall_source_close(event); break;
    case SOURCE_COUNTER:
        fds_close(event->fd);
        kernel_frames_close(event);
        break;
    default:
        if (is_cpu_source(event))
            cpu_source_close(event);
    }
    event->source = 0;
}

void source_abandon(struct thread_event *event)
{
    if (source_is_perf(event))
        fds_close(event->fd);
    event->source = 0;
}

/* Counters: plans the next sample for a count of `period` after event->last. */
static void plan_count(struct thread_event *event, uint64_t period)
{
    event->armed = period;
    event->due = event->last + period;
}

/* What is needed to start an event, as planned. */
struct start {
    struct cpu_start cpu;
    struct wall_start wall;
    uint64_t count;
};

static struct start plan(struct thread *thread, struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: return (struct start){.wall = wall_source_plan(thread, event)};
    case SOURCE_COUNTER:
        plan_count(event, random_first_period(thread, event->mean));
        return (struct start){.count = event->armed};
    default: return (struct start){.cpu = cpu_source_plan(thread, event)};
    }
}

static void start(const struct thread_event *event, const struct start *start)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: wall_source_start(event, start->wall); break;
    case SOURCE_COUNTER: perf_enable(event->fd, start->count); break;
    default: cpu_source_start(event, start->cpu);
    }
}

/* The thread's handler may run as soon as samples are unblocked, for a late signal; it then arms
 * the event, too, and may change the plan, hence the copy. If the thread stays in its handler,
 * nothing is done here: the handler arms the event at its end. */
void source_resume(struct thread *thread, struct thread_event *event)
{
    if (!event->source || !thread_block_samples(thread))
        return;
    clockid_t cpu_clock = sys_thread_clock(thread->tid); /* the caller may be another thread */
    event->first = true;
    event->last = clock_of(event, cpu_clock);
    event->last_cpu = sys_clock(cpu_clock);
    event->unpaid_cpu = 0;
    event->mean = mean_period(event);
    if (event->event->interval)
        event->period = event->mean; /* the first sample pays it */
    const struct start planned = plan(thread, event);
    thread_unblock_samples(thread);
    start(event, &planned);
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

static void arm_counter(struct thread *thread, struct thread_event *event)
{
    uint64_t period = event->first ? random_first_period(thread, event->mean)
                                   : random_period(thread, event->mean);
    plan_count(event, skip_one_if_stuck(event, period));
    perf_enable(event->fd, event->armed);
}

void source_arm(struct thread *thread, struct thread_event *event)
{
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: wall_source_arm(thread, event); break;
    case SOURCE_COUNTER: arm_counter(thread, event); break;
    default: cpu_source_arm(thread, event);
    }
}

struct thread_event *source_of_signal(struct thread *thread, const siginfo_t *info)
{
    for (unsigned i = 0; i < thread->event_count; i++) {
        struct thread_event *event = &thread->events[i];
        if (info->si_code == SI_TIMER
                ? event->source && info->si_value.sival_ptr == event
                : source_is_perf(event) && info->si_code > 0 && info->si_fd == event->fd)
            return event;
    }
    return NULL;
}

/* The amount that the first sample after a start pays: one period for each period that began before
 * it came (it may be late: a blocked signal, a halted machine). Since it was due at a random time
 * in a period, this is on average the time since the start. If it pays more than one, the next
 * sample is a first one again. */
static uint64_t first_delta(const struct thread_event *event, uint64_t now)
{
    uint64_t late = now > event->due ? now - event->due : 0;
    return event->period * (1 + late / event->period);
}

/* A sample that is late by less than a period is not overdue: its signal may still come. */
struct increment source_overdue(struct thread_event *event)
{
    if (!is_cpu_source(event))
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

static struct increment measure_cpu_time(const struct thread *thread, struct thread_event *event,
                                         const siginfo_t *info, const ucontext_t *context)
{
    uint64_t ticks = ticks_now(), now = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    if (!cpu_source_is_due(thread, event, now, info, context))
        return (struct increment){.fired = false};
    uint64_t delta = event->first ? first_delta(event, now) : now - event->last;
    event->first = event->first && delta > event->period;
    event->last = now;
    event->measured_at = ticks;
    return (struct increment){.fired = true, .amount = delta << TIME_SHIFT};
}

static struct increment measure_count(struct thread_event *event, const ucontext_t *context)
{
    uint64_t now = perf_count(event->fd);
    uint64_t delta = event->first ? first_delta(event, now) : now - event->last;
    if (event->event->interval)
        follow_rate(event, delta);
    note_place(event, context);
    event->first = event->first && delta > event->period;
    event->last = now;
    return (struct increment){.fired = true, .amount = delta};
}

struct increment source_measure(struct thread *thread, struct thread_event *event,
                                const siginfo_t *info, const ucontext_t *context)
{
    struct increment increment;
    switch (event->source) {
    case SOURCE_MONOTONIC_TIMER: return wall_source_measure(thread, event, info, context);
    case SOURCE_COUNTER: increment = measure_count(event, context); break;
    default: increment = measure_cpu_time(thread, event, info, context);
    }
    kernel_frames_read(thread, event, context, &increment);
    return increment;
}
