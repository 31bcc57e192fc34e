#include "hpcrun/source/wall-clock-source.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/random-period.h"
#include "hpcrun/source/timer-turns.h"
#include "hpcrun/thread/live-threads.h"
#include "hpcrun/thread/ready-time.h"

#include <errno.h>

/* REALTIME samples waiting threads, too. If there are more threads than CPUs, samples take at most one
 * part in so many of the CPUs' time, or what one thread on each CPU would take; otherwise thousands of
 * threads would do nothing else. */
#define PARTS_PER_SAMPLES 20

/* CPU time of that many mean periods may be unpaid, or paid before the thread uses it. */
#define KEPT_PERIODS 8

/* A sample that is late by less than this part of a period has found the thread on a CPU. */
#define PROMPT_PART 8

/* CPU time that a sample of a waiting thread takes in all, ns: the wake-up, the signal, the handler, and
 * until the thread waits again. At first a guess; measured were 16000 to 58000, and more for a thread's
 * first samples. */
static _Atomic uint64_t sample_cost = 50000;

/* ---- open and close ---- */

bool wall_source_open(struct thread_event *event, int signal)
{
    turns_open(event, TIMER_NEEDED, signal);
    if (event->timers[0] < 0)
        return false;
    event->source = SOURCE_MONOTONIC_TIMER;
    return true;
}

void wall_source_close(struct thread_event *event)
{
    turns_close(event);
}

/* ---- start and stop ---- */

uint64_t wall_source_mean(const struct thread_event *event)
{
    uint64_t threads = threads_live(), cpus = process.usable_cpus;
    uint64_t each = PARTS_PER_SAMPLES * atomic_load_explicit(&sample_cost, memory_order_relaxed);
    uint64_t least = threads * (each < event->period ? each : event->period) / cpus;
    return event->period < least ? least : event->period;
}

struct wall_start wall_source_plan(struct thread *thread, struct thread_event *event)
{
    event->turn = 0;
    event->armed = random_first_period(thread, event->mean);
    event->after = random_period(thread, event->mean);
    event->due = event->last + event->armed;
    event->wall = event->due + event->after;
    return (struct wall_start){event->due, event->wall};
}

void wall_source_start(const struct thread_event *event, struct wall_start start)
{
    turns_start(event, 0, start.next, start.then);
}

void wall_source_stop(const struct thread_event *event)
{
    turns_stop(event);
}

/* ---- a sample ---- */

/* The time that a sample at `now` pays, up to the last planned time that is past; that time becomes
 * event->last. The first sample pays a mean period for the one before it, in which the thread began
 * at a random time. Behind the times for which timers were armed, a sample is due after every mean
 * period. */
static uint64_t time_to_pay(struct thread_event *event, uint64_t now)
{
    uint64_t pays = event->first ? event->mean : event->armed;
    event->last = event->due;
    if (now < event->wall)
        return pays;
    uint64_t more = event->after + (now - event->wall) / event->mean * event->mean;
    event->last += more;
    return pays + more;
}

/* Updates the mean period, and corrects what the sample pays. A sample stands for half of the period
 * before it and half of the one after it: the first sample comes after half a period on average and
 * pays a whole one; the time after the last sample is not paid. So when the mean changes, the
 * sample in between pays half of the difference more or less. The period that is planned already
 * has the old mean: that sample is one period too early, which changes no sum. */
static uint64_t change_mean(struct thread_event *event, uint64_t pays)
{
    uint64_t before = event->mean;
    event->mean = wall_source_mean(event);
    if (event->mean >= before)
        return pays + (event->mean - before) / 2;
    uint64_t less = (before - event->mean) / 2;
    return pays > less ? pays - less : 0;
}

/* Updates the cost of a sample, a moving average. `on_cpu` is the CPU time of the thread since its last
 * sample, which this one ends. If it has only waited since then, in the same call of a wrapper, that is
 * the cost; else the cost is not more. A sample that took much longer, since it mapped memory for
 * example, counts as twice the average. */
static void learn_cost(struct thread_event *event, uint64_t on_cpu)
{
    uint32_t call = slot_call(own_slot);
    uint64_t average = atomic_load_explicit(&sample_cost, memory_order_relaxed);
    bool has_only_waited = call && call == event->call;
    event->call = call;
    if (event->first || (on_cpu >= average && !has_only_waited))
        return;
    uint64_t cost = on_cpu < 2 * average ? on_cpu : 2 * average;
    atomic_store_explicit(&sample_cost, (15 * average + cost) / 16, memory_order_relaxed);
}

/* Whether the sample has interrupted a waiting call: the context is at its instruction, to which the
 * kernel goes back, or behind it with EINTR. The instruction has stored the address behind itself in
 * rcx. (With FRED event delivery it does not; then the wait for a CPU that the sample has caused counts
 * as the program's.) */
static bool has_woken(const greg_t *reg)
{
    uint64_t after = (uint64_t)reg[REG_RCX], pc = (uint64_t)reg[REG_RIP];
    bool has_ended = after == pc && reg[REG_RAX] == -EINTR;
    return has_ended || after == pc + SYSCALL_SIZE;
}

/* How much of `off` ns off the CPU the thread was ready to run. What it had to wait after this sample
 * had woken it is not the program's. What is left over pays with later samples. */
static uint64_t measure_ready(struct thread *thread, struct thread_event *event, uint64_t off,
                              uint64_t late, bool woken)
{
    uint64_t ready = off > 0 ? cpu_waits_since_begin(thread).ready : READY_UNKNOWN;
    if (ready == READY_UNKNOWN)
        return 0;
    uint64_t pays = ready > event->paid_ready ? ready - event->paid_ready : 0;
    uint64_t caused = woken ? pays < late ? pays : late : 0;
    atomic_fetch_add_explicit(&thread->sampled_ready, caused, memory_order_relaxed);
    pays -= caused;
    if (pays > off)
        pays = off;
    event->paid_ready += pays;
    return pays;
}

/* How much CPU time a sample leaves unpaid, if it can; negative: it pays so much more than was used.
 *
 * CPU time is charged where the thread used it, not where it was when samples came: with bursts of work shorter than a
 * period, most samples find it waiting. So a wait pays no CPU time, and a sample at work pays its whole period: over
 * many samples, that is what the CPU clock says. What differs by more than KEPT_PERIODS is corrected: so waits pay what
 * the kernel needs for waiting. A thread that is found late, in no wait, had no CPU, because of a page fault for
 * example: it pays what it has used. */
static int64_t left_unpaid(const struct thread_event *event, uint64_t late, bool waits)
{
    int64_t kept = KEPT_PERIODS * (int64_t)event->mean;
    bool is_prompt = late < event->mean / PROMPT_PART;
    return waits ? kept : is_prompt ? -kept : 0;
}

/* How much of `ns` the thread was on a CPU; `on_cpu`: since the last sample. */
static uint64_t take_cpu_time(struct thread_event *event, uint64_t ns, uint64_t on_cpu, int64_t left)
{
    int64_t unpaid = event->unpaid_cpu + (int64_t)on_cpu, pays = unpaid - left;
    if (pays < 0)
        pays = 0;
    if (pays > (int64_t)ns)
        pays = (int64_t)ns;
    event->unpaid_cpu = unpaid - pays;
    return (uint64_t)pays;
}

struct increment wall_source_measure(struct thread *thread, struct thread_event *event,
                                     const siginfo_t *info, const ucontext_t *context)
{
    uint64_t ticks = ticks_now(), now = sys_clock(CLOCK_MONOTONIC);
    if (now < event->due)
        return (struct increment){.fired = false};
    uint64_t cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID), on_cpu = cpu - event->last_cpu;
    uint64_t late = now - event->due;
    learn_cost(event, on_cpu);
    uint64_t pays = change_mean(event, time_to_pay(event, now));
    event->is_turn = turns_is_next(event, info);
    event->first = false;
    event->lag = now - event->last;
    event->last_cpu = cpu;
    event->measured_at = ticks;
    bool woken = has_woken(context->uc_mcontext.gregs);
    uint64_t ready = measure_ready(thread, event, on_cpu < pays ? pays - on_cpu : 0, late, woken);
    int64_t left = left_unpaid(event, late, woken || slot_waits(own_slot, ticks));
    uint64_t off = pays - ready - take_cpu_time(event, pays - ready, on_cpu, left);
    return (struct increment){
        .fired = true,
        .amount = pays << TIME_SHIFT,
        .off_cpu = off << TIME_SHIFT,
        .ready = ready << TIME_SHIFT,
        .until = event->last,
    };
}

/* ---- the next sample ---- */

/* Whether the other timer expires late enough to leave the program as much time as this sample took. Ticks are at
 * most a nanosecond long. A sample of a very deep path can take longer than the period; since samples are due at
 * fixed times, the thread would never leave the handler. */
static bool other_timer_leaves_time(const struct thread_event *event)
{
    uint64_t spent = ticks_now() - event->measured_at;
    return event->is_turn && event->wall > event->last + event->lag + 2 * spent;
}

/* Plans both samples anew, with time for the program before the first of them. */
static void plan_anew(struct thread *thread, struct thread_event *event)
{
    uint64_t spent = sys_clock(CLOCK_THREAD_CPUTIME_ID) - event->last_cpu;
    uint64_t earliest = sys_clock(CLOCK_MONOTONIC) + spent;
    event->armed = random_period(thread, event->mean);
    if (earliest > event->last + event->armed)
        event->armed = earliest - event->last;
    event->after = random_period(thread, event->mean);
    event->due = event->last + event->armed;
    event->wall = event->due + event->after;
    turns_start(event, event->turn, event->due, event->wall);
}

void wall_source_arm(struct thread *thread, struct thread_event *event)
{
    if (!other_timer_leaves_time(event)) {
        plan_anew(thread, event);
        return;
    }
    event->armed = event->after;
    event->due = event->wall;
    event->after = random_period(thread, event->mean);
    event->wall += event->after;
    turns_pass(event);
}
