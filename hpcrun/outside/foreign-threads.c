#include "hpcrun/outside/foreign-threads.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/outside/foreign-memory.h"
#include "hpcrun/outside/foreign-maps.h"
#include "hpcrun/outside/foreign-waits.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/short-turns.h"
#include "hpcrun/outside/unknown-bp.h"
#include "hpcrun/outside/unsampled-time.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/sample/sample-trace.h"
#include "hpcrun/sample/sample.h"
#include "hpcrun/thread/live-threads.h"
#include "hpcrun/thread/ready-time.h"
#include "hpcrun/thread/thread-image.h"
#include "hpcrun/thread/thread-start.h"

#include <stdlib.h>

#define SLOTS 4096

struct foreign_thread {
    struct foreign_thread *next; /* with a tid of the same slot */
    int tid;
    bool has_stack;         /* of its first samples; it is known, or known to be none */
    uint64_t began_wall;    /* CLOCK_MONOTONIC; 0: not known before its first sample */
    uint64_t ended_wall;    /* of the initial thread, CLOCK_MONOTONIC; 0: it has not ended */
    struct scheduled began; /* what the scheduler had counted then */
    struct scheduled looked; /* and when its turns were last looked at */
    struct thread *thread;  /* NULL before its first sample, or a loss */
    int opener;       /* for perf_events_count_sample */
    uint32_t lock;    /* node of the lock that it waited for at its last sample; 0: none */
    uint64_t sampled; /* CPU time that its samples stand for, ns */
    uint64_t began_system, system; /* if perf hides the kernel: its CPU time there at its begin, and last read, ns */
    uint64_t hidden;  /* the part of it that no sample stands for, ns, as charged */
    uint64_t period;  /* of its last sample, ns */
    uint64_t last;    /* CLOCK_MONOTONIC of its last sample */
    uint64_t read_at; /* CLOCK_MONOTONIC when its clocks were last read; 0: never */
};

static struct foreign_thread *by_tid[SLOTS]; /* by tid */
static size_t begun;                        /* number of threads, those that have ended included */
static struct foreign_time ended;           /* of threads that have ended, and of lost samples */
static bool have_short_turns;

static struct foreign_thread **find(int tid)
{
    struct foreign_thread **at = &by_tid[(unsigned)tid % SLOTS];
    while (*at && (*at)->tid != tid)
        at = &(*at)->next;
    return at;
}

/* ---- faults ---- */

/* What is read outside of the unwinder's own guarded regions: headers of modules. */
static struct guard outer;
static struct guard *inner; /* of the thread whose sample is being recorded; NULL: none */

bool foreign_threads_fix_up(ucontext_t *context)
{
    return guard_fix_up(inner, context) || guard_abandon(&outer, context);
}

/* ---- begin ---- */

static struct foreign_thread *add(int tid)
{
    struct foreign_thread **at = find(tid);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->tid = tid;
        begun++;
    }
    return *at;
}

void foreign_threads_begin(int tid, uint64_t time, const struct scheduled *clocks)
{
    struct foreign_thread *its = add(tid);
    if (!its || its->began_wall)
        return;
    its->began_wall = time;
    its->began = its->looked = *clocks;
    if (clocks->cpu && !perf_events_see_kernel())
        its->began_system = its->system = measured_system_time_of(tid);
}

/* Its begin is not known: it is one period before its first sample. Its clocks are read when that is recorded. */
static void guess_begin(struct foreign_thread *its, const struct perf_sample *sample)
{
    struct scheduled now = {.cpu = sample->period, .ready = READY_UNKNOWN};
    measured_schedule(its->tid, &now);
    now.cpu = now.cpu > sample->period ? now.cpu - sample->period : 0;
    foreign_threads_begin(its->tid, sample->time - sample->period, &now);
}

static void set_begin(struct thread *thread, const struct foreign_thread *its)
{
    thread->tid = its->tid;
    thread->began_wall = its->began_wall > process.began_wall ? its->began_wall : process.began_wall;
    thread->began_cpu = its->began.cpu;
    thread->began_waits = (struct cpu_waits){its->began.ready, its->began.timeslices};
    thread->ended_waits.ready = READY_UNKNOWN;
    measured_name(process.pid, its->tid, thread->image->name, sizeof thread->image->name);
}

static void find_stack(struct foreign_thread *its, uint64_t sp)
{
    struct unwinder *unwinder = &its->thread->unwinder;
    unwinder->stack_low = unwinder->stack_high = 0;
    enum foreign_stack found = foreign_stack(sp, its->began_wall, &unwinder->stack_low, &unwinder->stack_high);
    its->has_stack = found != STACK_NOT_YET_KNOWN;
}

static struct thread *new_thread(const struct foreign_thread *its)
{
    struct thread *thread = thread_new(its->tid == process.pid ? THREAD_INITIAL : THREAD_PTHREAD);
    if (!thread)
        return NULL;
    thread_start_over(thread);
    set_begin(thread, its);
    thread->events[0].opened_as = perf_events_see_kernel() ? SOURCE_OUTSIDE : SOURCE_OUTSIDE_USER;
    threads_enlist(thread);
    const struct agent_start_routine unknown = {0};
    agent_query_thread_begin(&thread->logical.query, &thread->unwinder, thread->tid, unknown);
    return thread;
}

static struct foreign_thread *thread_of(const struct perf_sample *sample)
{
    struct foreign_thread *its = add(sample->tid);
    if (!its)
        return NULL;
    if (!its->began_wall)
        guess_begin(its, sample);
    if (!its->thread)
        its->thread = new_thread(its);
    if (its->thread && !its->has_stack)
        find_stack(its, sample->registers[SAMPLED_SP]);
    return its->thread ? its : NULL;
}

/* ---- clocks ---- */

/* The kernel forgets a thread's clocks when it ends. So they are read at samples, too, this often, ns. */
#define READ_INTERVAL 50000000u

/* Of a thread that is gone, if the process had no other: what was last read of the process. */
static void take_clocks_of_process(struct foreign_thread *its)
{
    uint64_t cpu = its->thread->began_cpu + process_cpu_time() - process.began_cpu;
    uint64_t system = its->began_system + measured_system_time();
    if (begun > 1)
        return;
    its->thread->ended_cpu = cpu > its->thread->ended_cpu ? cpu : its->thread->ended_cpu;
    its->system = system > its->system ? system : its->system;
}

static void read_clocks(struct foreign_thread *its, uint64_t time)
{
    struct thread *thread = its->thread;
    struct scheduled now;
    its->read_at = time;
    if (!measured_schedule(its->tid, &now)) {
        take_clocks_of_process(its);
        return;
    }
    thread->ended_cpu = now.cpu;
    have_short_turns |= turns_are_short(&its->looked, &now);
    uint64_t system = perf_events_see_kernel() ? 0 : measured_system_time_of(its->tid);
    if (system > its->system)
        its->system = system;
    if (thread->began_waits.ready != READY_UNKNOWN)
        thread->ended_waits = (struct cpu_waits){now.ready - thread->began_waits.ready,
                                                 now.timeslices - thread->began_waits.timeslices};
}

static uint64_t cpu_used(const struct foreign_thread *its)
{
    return used_time(its->thread->began_cpu, its->thread->ended_cpu, its->sampled);
}

/* ---- samples ---- */

/* The place of perf's registers in the machine context, in perf's order. */
static const uint8_t greg_of[SAMPLED_REGISTER_COUNT] = {
    REG_RAX,    REG_RBX,    REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP, REG_EFL,
    REG_CSGSFS, REG_CSGSFS, REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* A fault in it ends the sample. */
static void add_bp(struct unwinder *u, ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    inner = NULL;
    unwind_prepare(u, context);
    reg[REG_RBP] = (greg_t)unknown_bp_find(u, (uint64_t)reg[REG_RIP], (uint64_t)reg[REG_RSP]);
    inner = &u->guard;
}

/* The lock is below the program's call, not below what libc does to wait. */
static uint32_t node_of_lock(struct thread *thread, uint64_t lock)
{
    const struct unwinder *u = &thread->unwinder;
    uint32_t frames = u->depth;
    while (frames > 0 && modules_in_libc(u->path[frames - 1].pc))
        frames--;
    return frames > 0 ? lock_node(thread, u->path[frames - 1].node, lock) : CCT_NO_MEMORY;
}

/* After the sample is recorded. What holders have charged since the last one is for the lock of that time, if any. */
static void pay_lock(struct foreign_thread *its, const struct perf_sample *sample)
{
    uint32_t node = sample->lock ? node_of_lock(its->thread, sample->lock) : CCT_NO_MEMORY;
    if (own_slot && its->lock)
        lock_wait_pay(its->thread, own_slot, its->lock);
    its->lock = node == CCT_NO_MEMORY ? 0 : node;
}

/* What is beyond the copy, and was found later, needs no larger one, but no smaller one either. To catch it costs more
 * than a larger copy. */
static uint64_t asked_bytes(const struct unwinder *u, const struct perf_sample *sample)
{
    uint64_t extent = u->depth ? u->path[0].sp - sample->registers[SAMPLED_SP] : 0;
    switch (foreign_memory_rest()) {
    case REST_CAUGHT:
    case REST_CHANGED: return sample->copy_bytes + 1;
    case REST_READ: return sample->copy_bytes;
    default: return extent < sample->copy_bytes ? extent : sample->copy_bytes;
    }
}

static void unwind_and_record(struct foreign_thread *its, const struct perf_sample *sample,
                              const struct increment *increment)
{
    struct thread *thread = its->thread;
    ucontext_t context = {0};
    struct thread_event *event = &thread->events[0];
    for (unsigned i = 0; i < SAMPLED_REGISTER_COUNT; i++)
        context.uc_mcontext.gregs[greg_of[i]] = (greg_t)sample->registers[i];
    thread->unwinder.elsewhere = foreign_memory(sample->stack, sample->stack_bytes, sample->caught);
    inner = &thread->unwinder.guard;
    if (guard_enter(&outer) == 0) {
        if (sample->is_waiting)
            add_bp(&thread->unwinder, &context);
        sample_record(thread, event, increment, &context, sample_trace_place(thread));
        pay_lock(its, sample);
        guard_leave(&outer);
    } else {
        unwind_forget(&thread->unwinder);
        thread_image_count(thread, event, FATE_DROPPED_OWN_CODE, 1, increment->amount);
        *sample_trace_place(thread) =
            (struct trace_record){.time = increment->until, .amount = TRACE_DROPPED};
    }
    inner = NULL;
}

/* The kernel has no registers of a thread that is ending, and no use for those of 32-bit code. The time
 * line has none of these samples. */
static void drop(struct thread *thread, const struct increment *increment)
{
    thread_image_count(thread, &thread->events[0], FATE_FIRED, 1, increment->amount);
    thread_image_count(thread, &thread->events[0], FATE_DROPPED_ENDING, 1, increment->amount);
}

uint64_t foreign_threads_sample(const struct perf_sample *sample)
{
    struct foreign_thread *its = thread_of(sample);
    if (!its || sample->time < its->began_wall ||
        (!sample->is_waiting && !perf_events_count_sample(sample->tid, sample->event, &its->opener)))
        return 0;
    if (sample->time >= its->read_at + READ_INTERVAL)
        read_clocks(its, sample->time);
    uint64_t ready = waits_enter(sample), time = sample->is_waiting ? 0 : sample->period;
    its->last = sample->time > its->last ? sample->time : its->last + 1;
    const struct increment increment = {
        .fired = true,
        .amount = (sample->period + ready) << TIME_SHIFT,
        .off_cpu = (sample->period - time) << TIME_SHIFT,
        .ready = ready << TIME_SHIFT,
        .until = its->last,
        .kernel = sample->kernel,
        .kernel_count = sample->kernel_count,
    };
    if (sample->is_64_bit)
        unwind_and_record(its, sample, &increment);
    else
        drop(its->thread, &increment);
    thread_image_commit(its->thread, ticks_now());
    if (sample->is_64_bit)
        sample_trace(its->thread, &its->thread->events[0], &increment);
    its->sampled += time;
    its->period = time ? time : its->period;
    return sample->is_64_bit ? asked_bytes(&its->thread->unwinder, sample) : 0;
}

void foreign_threads_lose(uint64_t samples, uint64_t time, uint64_t cpu)
{
    struct foreign_thread *initial = add(process.pid);
    uint64_t amount = time << TIME_SHIFT;
    ended.sampled += cpu;
    if (initial && !initial->thread)
        initial->thread = new_thread(initial);
    if (!initial || !initial->thread)
        return;
    thread_image_count(initial->thread, &initial->thread->events[0], FATE_FIRED, samples, amount);
    thread_image_count(initial->thread, &initial->thread->events[0], FATE_DROPPED_NO_MEMORY,
                       samples, amount);
    thread_image_commit(initial->thread, ticks_now());
}

/* ---- writing ---- */

/* The thread's clocks now; if it is gone, the last known ones, and at least what its samples stand for.
 * They lie where an ended thread has them: flush_thread would read clocks of this process. */
static void set_clocks(struct foreign_thread *its, uint64_t wall)
{
    struct thread *thread = its->thread;
    read_clocks(its, wall);
    thread->ended_cpu = thread->began_cpu + cpu_used(its);
    atomic_store(&thread->ended_wall, wall);
}

/* Charges the CPU time in the kernel that perf hides to code without a name, so that shares of the program's time are
 * not those of its other time. */
static void charge_hidden(struct foreign_thread *its)
{
    const struct cct_note note = {.ip = ip_placeholder(PLACEHOLDER_KERNEL), .first = true};
    struct thread *thread = its->thread;
    struct thread_event *event = &thread->events[0];
    uint64_t used = cpu_used(its), system = its->system - its->began_system;
    uint64_t unsampled = used > its->sampled ? used - its->sampled : 0;
    uint64_t hidden = unsampled < system ? unsampled : system;
    if (hidden <= its->hidden)
        return;
    uint64_t amount = (hidden - its->hidden) << TIME_SHIFT;
    uint32_t node = cct_child(&thread->cct, CCT_ROOT, &note), running = slots_running();
    if (node == CCT_NO_MEMORY || !cct_add(&thread->cct, node, event->work, amount))
        return;
    if (event->wall_time != NO_METRIC)
        cct_add(&thread->cct, node, event->wall_time, amount / (running ? running : 1));
    thread_image_count(thread, event, FATE_FIRED, 0, amount);
    thread_image_count(thread, event, FATE_RECORDED, 0, amount);
    thread_image_count(thread, event, FATE_KERNEL_UNATTRIBUTED, 0, amount);
    thread_image_commit(thread, ticks_now());
    its->hidden = hidden;
}

static bool write_thread(struct foreign_thread *its, uint64_t wall, bool is_last)
{
    if (!its->thread)
        return true;
    set_clocks(its, its->ended_wall ? its->ended_wall : wall);
    charge_hidden(its);
    if (is_last)
        kernel_code_add(&its->thread->cct);
    return flush_thread(its->thread, is_last);
}

static void add_time(struct foreign_time *time, const struct foreign_thread *its)
{
    time->used += its->thread ? cpu_used(its) : 0;
    time->sampled += its->sampled;
    time->rests += perf_rings_cpus() * (its->period ? its->period : process.config.events[0].period);
}

/* Samples that are found lost later count for the initial thread. */
void foreign_threads_end(int tid, uint64_t wall)
{
    struct foreign_thread **at = find(tid), *its = *at;
    if (its && tid == process.pid)
        its->ended_wall = wall;
    if (!its || its->ended_wall || !write_thread(its, wall, true))
        return;
    add_time(&ended, its);
    ended.unseen += !its->thread;
    *at = its->next;
    if (its->thread)
        thread_retire(its->thread);
    free(its);
}

bool foreign_threads_write(bool is_last)
{
    uint64_t wall = sys_clock(CLOCK_MONOTONIC);
    bool good = true;
    for (unsigned i = 0; i < SLOTS; i++)
        for (struct foreign_thread *its = by_tid[i]; its; its = its->next)
            good &= write_thread(its, wall, is_last);
    return good;
}

struct foreign_time foreign_threads_time(void)
{
    struct foreign_time time = ended;
    for (unsigned i = 0; i < SLOTS; i++)
        for (struct foreign_thread *its = by_tid[i]; its; its = its->next)
            add_time(&time, its);
    uint64_t of_process = process_cpu_time() - process.began_cpu;
    time.used = time.used > of_process ? time.used : of_process;
    return time;
}

unsigned foreign_threads_want_cpus(void)
{
    return (have_short_turns ? SHORT_TURNS : 0u) | (ended.unseen >= MANY_UNSEEN ? SHORT_LIVES : 0u);
}
