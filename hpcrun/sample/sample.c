#include "hpcrun/sample/sample.h"

#include "hpcrun/logical/agent-table.h"
#include "hpcrun/process/process.h"

static void tally(struct thread_event *event, enum fate fate, uint64_t amount)
{
    struct fate_count *tally = &event->fates[fate_slot(fate)];
    tally->count++;
    tally->amount += amount;
}

void sample_count_missed(struct thread_event *event, const struct increment *increment)
{
    __atomic_fetch_add(&event->missed.count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&event->missed.amount, increment->amount, __ATOMIC_RELAXED);
}

/* n of the law: workers that could work at once (design, section 4). */
static uint32_t capacity(const struct agent_worker_counts *counts)
{
    uint32_t cores = process.config.cores ? process.config.cores : process.usable_cpus;
    return counts->workers < cores ? counts->workers : cores;
}

/* How many of n workers were working, 1 to n: the sampled one was. */
static uint64_t working_of(const struct agent_worker_counts *counts, uint64_t n)
{
    uint64_t working = counts->working;
    return working < 1 ? 1 : working > n ? n : working;
}

/* Pays for the workers that had nothing to do while this one worked: its share of the blame, and
 * of the time in which that was so. */
static void pay_for_idle_workers(struct thread *thread, const struct thread_event *event,
                                 const struct agent_worker_counts *counts, uint64_t amount,
                                 uint32_t node)
{
    uint64_t n = capacity(counts), working = working_of(counts, n);
    if (n <= working)
        return;
    uint64_t blame = (uint64_t)((unsigned __int128)amount * (n - working) / working);
    cct_add(&thread->cct, node, event->idleness, blame);
    cct_add(&thread->cct, node, event->incomplete, amount / working);
}

/* The sample of a worker without work, or of a thread of the runtime's own, pays nothing to
 * anybody's code. That nobody works is told of workers only: they are what n counts. */
static void record_idle(struct thread *thread, struct thread_event *event,
                        const struct increment *increment, const struct stance *stance)
{
    unwind_forget(&thread->unwinder);
    bool nobody_works = stance->class == AGENT_IDLE && stance->counts.working == 0;
    tally(event, nobody_works ? FATE_NOBODY_WORKING : FATE_IDLE, increment->amount);
}

static bool pay(struct thread *thread, struct thread_event *event,
                const struct increment *increment, const struct stance *stance, uint32_t node)
{
    if (!cct_add(&thread->cct, node, event->work, increment->amount))
        return false;
    if (increment->blocked)
        cct_add(&thread->cct, node, event->blocked, increment->blocked);
    if (stance->class == AGENT_WORKING && event->idleness != NO_METRIC)
        pay_for_idle_workers(thread, event, &stance->counts, increment->amount, node);
    return true;
}

void sample_record(struct thread *thread, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context)
{
    tally(event, FATE_FIRED, increment->amount);
    enum unwind_end end = unwind(&thread->unwinder, context);
    const struct stance *stance =
        consult_stance(&thread->logical.consult, &thread->unwinder, thread->tid);
    if (stance->class != AGENT_FOREIGN)
        workers_record(stance->agent, stance->counts.workers, capacity(&stance->counts));
    if (stance->class == AGENT_IDLE || stance->class == AGENT_RUNTIME_OWNED) {
        record_idle(thread, event, increment, stance);
        return;
    }
    uint32_t unchanged = consult_path(&thread->logical.consult);
    uint32_t node =
        logical_enter(&thread->logical, &thread->unwinder, &thread->cct, end, unchanged);
    if (node ==
        CCT_ROOT) /* all frames are our own; the root may not be there yet, and has no values */
        node = logical_unknown(&thread->cct);
    if (node == CCT_NO_MEMORY || !pay(thread, event, increment, stance, node)) {
        unwind_forget(&thread->unwinder);
        tally(event, FATE_DROPPED_NO_MEMORY, increment->amount);
        return;
    }
    tally(event, FATE_RECORDED, increment->amount);
    if (end != UNWIND_COMPLETE)
        tally(event, FATE_PARTIAL_NO_FDE + (end - UNWIND_NO_FDE), increment->amount);
}
