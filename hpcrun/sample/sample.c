#include "hpcrun/sample/sample.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/lock-waiters.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/thread/thread-image.h"

static void count_fate(struct thread *thread, struct thread_event *event, enum fate fate,
                       uint64_t amount)
{
    thread_image_count(thread, event, fate, 1, amount);
}

void sample_count_missed(struct thread_event *event, const struct increment *increment)
{
    __atomic_fetch_add(&event->missed.count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&event->missed.amount, increment->amount, __ATOMIC_RELAXED);
}

/* n of the law of metrics: the number of workers that can work at once, limited by CPUs. */
static uint32_t capacity(const struct agent_worker_counts *counts)
{
    uint32_t cores = process.config.cores ? process.config.cores : process.usable_cpus;
    return counts->workers < cores ? counts->workers : cores;
}

/* The number of working workers, at most n, and at least 1: the sampled one was working. */
static uint64_t working_of(const struct agent_worker_counts *counts, uint64_t n)
{
    uint64_t working = counts->working < n ? counts->working : n;
    return working > 0 ? working : 1;
}

/* Charges the node for idle workers: with this worker's share of their idle time, and its share of
 * the time in which some worker was idle. */
static void charge_idleness(struct thread *thread, const struct thread_event *event,
                            const struct agent_worker_counts *counts, uint64_t amount,
                            uint32_t node)
{
    uint64_t n = capacity(counts), working = working_of(counts, n);
    if (n <= working || amount == 0)
        return;
    uint64_t blame = (uint64_t)((unsigned __int128)amount * (n - working) / working);
    cct_add(&thread->cct, node, event->idleness, blame);
    cct_add(&thread->cct, node, event->incomplete, amount / working);
}

/* A sample of a worker without work, or of a thread that the runtime uses for itself, is charged to
 * no code. "Nobody working" counts workers only, as n does. */
static enum trace_state count_idle(struct thread *thread, struct thread_event *event,
                                   const struct increment *increment,
                                   const struct thread_status *status)
{
    unwind_forget(&thread->unwinder);
    bool nobody_works = status->kind == AGENT_IDLE && status->counts.working == 0;
    count_fate(thread, event, nobody_works ? FATE_NOBODY_WORKING : FATE_IDLE, increment->amount);
    if (status->kind == AGENT_RUNTIME_OWNED)
        return TRACE_RUNTIME;
    return nobody_works ? TRACE_NOBODY : TRACE_IDLE;
}

/* The number of threads among which the time of this instant is divided: those that work. If no agent
 * knows the thread, those that wait in no call. CPUs bound it. */
static uint64_t running_at(const struct thread_status *status)
{
    struct agent_worker_counts counts = status->counts;
    if (status->kind == AGENT_FOREIGN)
        counts.workers = counts.working = slots_running();
    return working_of(&counts, capacity(&counts));
}

/* The metric that the sample's time is paid into. */
static unsigned metric_of(const struct thread_event *event, const struct thread_status *status)
{
    bool waits = status->kind == AGENT_WAITING && event->waiting != NO_METRIC;
    return waits ? event->waiting : event->work;
}

/* The node that is blamed. A thread gives an interpreter's lock to others when they have waited for some
 * milliseconds, unless it is in a function that does not return to the interpreter. That gets a node of its own. */
static uint32_t blamed_node(struct thread *thread, struct thread_event *event, uint64_t turn,
                            uint64_t amount, uint32_t node)
{
    event->lock_kept = turn && turn == event->lock_turn ? event->lock_kept + amount : 0;
    event->lock_turn = turn;
    bool is_long = event->wall_time != NO_METRIC &&
                   event->lock_kept >> TIME_SHIFT > (uint64_t)AGENT_LONG_MS * 1000000;
    uint32_t below = is_long ? lock_kept_node(thread) : node;
    return below == CCT_NO_MEMORY ? node : below;
}

/* Whether the thread waits for a lock, as far as it is known. */
static bool waits_for_lock(const struct agent_slot *slot)
{
    uint64_t lock = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    uint64_t holder = atomic_load_explicit(&slot->holder, memory_order_relaxed);
    const _Atomic uint64_t *word = (const void *)(holder & ~AGENT_HOLDER_OF_SEMAPHORE);
    if (holder & AGENT_HOLDER_OF_SEMAPHORE)
        return semaphore_is_lock(atomic_load_explicit(word, memory_order_relaxed), lock);
    return lock != 0;
}

/* Samples of its own say how long the thread waits for a lock. */
static void note_lock_wait(const struct thread *thread, const struct thread_event *event,
                           enum agent_thread_status kind, uint64_t amount)
{
    struct agent_slot *slot = own_slot;
    unsigned which = (unsigned)(event - thread->events);
    bool is_waiting = kind == AGENT_WAITING || kind == AGENT_IDLE;
    if (is_waiting && event->lock_blame != NO_METRIC && slot && waits_for_lock(slot))
        atomic_fetch_add_explicit(&slot->unpaid[which], (int64_t)amount, memory_order_relaxed);
}

/* The node, below that of the path, of time in which the thread has a lock for which others wait, and no CPU. */
static uint32_t node_without_cpu(struct thread *thread, uint32_t node)
{
    const struct cct_note note = {.ip = ip_placeholder(PLACEHOLDER_LOCK_WITHOUT_CPU), .first = true};
    uint32_t below = cct_child(&thread->cct, node, &note);
    return below == CCT_NO_MEMORY ? node : below;
}

/* Charges the node for threads that wait for a lock that this one holds, and a node of its own for the part of the wait
 * in which this one had no CPU: that has another cause than the lock. */
static uint32_t charge_lock_blame(struct thread *thread, struct thread_event *event, const struct increment *increment,
                                  uint32_t node)
{
    unsigned which = (unsigned)(event - thread->events);
    uint64_t amount = increment->amount - increment->ready;
    struct lock_waiters waiters = lock_waiters_charge(&thread->unwinder.memory, thread->tid, &thread->logical.query, which,
                                                      increment->amount);
    if (waiters.count == 0)
        return 0;
    cct_add(&thread->cct, blamed_node(thread, event, waiters.turn, amount, node), event->lock_blame,
            amount * waiters.count);
    if (increment->ready) {
        event->ready_node = node_without_cpu(thread, node);
        cct_add(&thread->cct, event->ready_node, event->lock_blame, increment->ready * waiters.count);
    }
    return waiters.count;
}

/* Pays what the sample is worth to found->node, and fills in what it depends on. The time line has time off
 * the CPU in a record of its own, so that pays its own idleness: each quotient is rounded by itself. */
static bool add_to_metrics(struct thread *thread, struct thread_event *event,
                           const struct increment *increment, const struct thread_status *status,
                           struct trace_record *found)
{
    unsigned metric = metric_of(event, status);
    uint32_t node = found->node;
    uint64_t amount = increment->amount - increment->ready, off_cpu = increment->off_cpu;
    bool is_worker = status->kind == AGENT_WORKING;
    found->amount = (metric == event->work ? TRACE_WORK : TRACE_WAITING) | (is_worker ? TRACE_WORKER : 0);
    uint64_t running = running_at(status);
    found->n = capacity(&status->counts);
    found->working = (uint32_t)running;
    event->ready_node = node;
    if (!cct_add(&thread->cct, node, metric, amount))
        return false;
    if (off_cpu && metric == event->work)
        cct_add(&thread->cct, node, event->off_cpu, off_cpu);
    if (event->wall_time != NO_METRIC && metric == event->work)
        cct_add(&thread->cct, node, event->wall_time, (amount - off_cpu) / running);
    if (is_worker && event->idleness != NO_METRIC) {
        charge_idleness(thread, event, &status->counts, amount - off_cpu, node);
        charge_idleness(thread, event, &status->counts, off_cpu, node);
    }
    if (event->lock_blame != NO_METRIC)
        found->waiters = charge_lock_blame(thread, event, increment, node);
    if (increment->ready)
        cct_add(&thread->cct, event->ready_node, event->ready, increment->ready);
    return true;
}

/* Whether a wait of the thread has ended without its wrapper (by cancellation, an exception or
 * longjmp): the wrapper's frame is not in the path. */
static bool has_left_wait(struct unwinder *u, const struct agent_slot *slot)
{
    if (!slot_is_in_call(slot) || slot->frame == 0) /* from outside, there are no wrappers */
        return false;
    for (uint32_t i = u->depth; i > 0; i--)
        if (u->path[i - 1].bp == slot->frame && unwind_hidden(u, &u->path[i - 1]))
            return false;
    return true;
}

/* Whether the sample came while hpcrun measured work and span for the program: between two strands. */
static bool is_between_strands(struct unwinder *u)
{
    return process.config.work_span && u->depth > 0 && unwind_hidden(u, &u->path[u->depth - 1]);
}

/* Enters the kernel's frames below the node of the code that called it, or that it interrupted for a fault. If the
 * kernel hides its addresses, they are one node. */
static uint32_t enter_kernel(struct cct *cct, uint32_t node, const struct increment *increment)
{
    uint64_t last = 0;
    for (unsigned i = increment->kernel_count; i > 0 && node != CCT_NO_MEMORY; i--) {
        bool is_call = i > 1;
        const struct cct_note note = {.ip = modules_kernel_ip(increment->kernel[i - 1] - is_call), .first = true};
        if (note.ip != last)
            node = cct_child(cct, node, &note);
        last = note.ip;
    }
    return node;
}

static void drop(struct thread *thread, struct thread_event *event, enum fate why, uint64_t amount,
                 struct trace_record *found)
{
    unwind_forget(&thread->unwinder);
    count_fate(thread, event, why, amount);
    *found = (struct trace_record){.time = found->time, .amount = TRACE_DROPPED};
}

void sample_record(struct thread *thread, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context,
                   struct trace_record *found)
{
    uint64_t ticks = ticks_now();
    *found = (struct trace_record){.time = increment->until ? increment->until : ticks};
    count_fate(thread, event, FATE_FIRED, increment->amount);
    enum unwind_end end = unwind(&thread->unwinder, context);
    if (own_slot && end == UNWIND_COMPLETE && has_left_wait(&thread->unwinder, own_slot))
        slot_reset(own_slot);
    slots_find_long_calls(ticks);
    const struct thread_status *status =
        agent_query_status(&thread->logical.query, &thread->unwinder, thread->tid);
    if (status->kind != AGENT_FOREIGN)
        workers_record(status->agent, status->counts.workers, capacity(&status->counts));
    note_lock_wait(thread, event, status->kind, increment->amount);
    if (status->kind == AGENT_IDLE || status->kind == AGENT_RUNTIME_OWNED) {
        found->amount = count_idle(thread, event, increment, status);
        return;
    }
    if (is_between_strands(&thread->unwinder)) {
        drop(thread, event, FATE_DROPPED_OWN_CODE, increment->amount, found);
        return;
    }
    uint32_t unchanged = agent_query_path(&thread->logical.query);
    uint32_t node =
        logical_enter(&thread->logical, &thread->unwinder, &thread->cct, end, unchanged);
    if (node == CCT_ROOT) /* all frames are hpcrun's own; the root can't have values */
        node = logical_unknown(&thread->cct);
    node = enter_kernel(&thread->cct, node, increment);
    found->node = node;
    if (node == CCT_NO_MEMORY || !add_to_metrics(thread, event, increment, status, found)) {
        drop(thread, event, FATE_DROPPED_NO_MEMORY, increment->amount, found);
        return;
    }
    count_fate(thread, event, FATE_RECORDED, increment->amount);
    if (end != UNWIND_COMPLETE)
        count_fate(thread, event, FATE_PARTIAL_NO_FDE + (end - UNWIND_NO_FDE), increment->amount);
}
