#include "hpcrun/sample/take.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/ticks.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/sample/sample.h"

/* Time stamp ticks between looks at the clock: a second or two. The counter costs no memory access,
 * and the clock several, all of them cold. */
#define TICKS_PER_LOOK ((uint64_t)1 << 32)

static void flush_now_and_then(struct thread *thread)
{
    uint64_t ticks = ticks_now();
    if (thread->looked_at && ticks - thread->looked_at < TICKS_PER_LOOK)
        return;
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    thread->looked_at = ticks;
    if (thread->flushed_at == 0) { /* the first sample */
        thread->flushed_at = now;
        measurement_create();
    } else if (now - thread->flushed_at >= FLUSH_INTERVAL) {
        thread->flushed_at = now;
        flush_thread(thread, false);
    }
}

void sample_take(struct thread *thread, struct thread_event *event, const siginfo_t *info,
                 const ucontext_t *context)
{
    atomic_store(&thread->busy, true);
    bool stopping = atomic_load(&sampling.stopping);
    struct increment increment = {.fired = false};
    if (atomic_load_explicit(&sampling.on, memory_order_relaxed) && !atomic_load(&thread->held))
        increment = source_measure(thread, event, info, context);
    if (increment.fired && stopping) {
        sample_miss(event, &increment);
    } else if (increment.fired) {
        sample_record(thread, event, &increment, context);
        source_arm(thread, event);
        flush_now_and_then(thread);
    }
    atomic_store_explicit(&thread->busy, false, memory_order_release);
}

void sample_take_due(struct thread *thread, const ucontext_t *context)
{
    static const siginfo_t nothing;
    for (unsigned i = 0; i < thread->event_count; i++)
        if (source_is_due(&thread->events[i]))
            sample_take(thread, &thread->events[i], &nothing, context);
}

void sample_miss_overdue(struct thread *thread)
{
    if (!atomic_load(&sampling.on))
        return;
    for (unsigned i = 0; i < thread->event_count; i++) {
        struct increment increment = source_overdue(&thread->events[i]);
        if (increment.fired)
            sample_miss(&thread->events[i], &increment);
    }
}

/* Whether a sample's own signal is on its way to this thread. */
static bool sample_is_pending(void)
{
    uint64_t pending = 0;
    sys2(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & sys_mask_bit(process.signal);
}

/* With the mask that the sampling signal's handler has. */
static void take_lost_samples(struct thread *thread, const siginfo_t *info,
                              const ucontext_t *context)
{
    uint64_t faults = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS);
    uint64_t mask = sys_mask(SIG_SETMASK, ~faults);
    for (unsigned i = 0; i < thread->event_count; i++)
        if (source_has_lost_sample(&thread->events[i]))
            sample_take(thread, &thread->events[i], info, context);
    thread_samples_handled++;
    sys_mask(SIG_SETMASK, mask);
}

bool sample_take_lost(int signal, const siginfo_t *info, const void *context)
{
    struct thread *thread = thread_self;
    bool any = false;
    if (signal != SIGIO || info->si_code != SI_KERNEL || !thread)
        return false;
    for (unsigned i = 0; i < thread->event_count; i++)
        any |= source_is_perf(&thread->events[i]);
    if (any && !atomic_load(&thread->busy) && !sample_is_pending())
        take_lost_samples(thread, info, context);
    return any;
}
