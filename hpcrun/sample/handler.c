#include "hpcrun/sample/handler.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/moment.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/restart/cancellation.h"
#include "hpcrun/restart/ended-calls.h"
#include "hpcrun/restart/restart.h"
#include "hpcrun/sample/sample-trace.h"
#include "hpcrun/sample/sample.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/thread/thread-image.h"

#include <string.h>

/* Ticks between two readings of the clock, one to two seconds. Reading the time stamp counter needs no
 * memory access; reading the clock needs several, all of them cold in the caches. */
#define TICKS_PER_LOOK ((uint64_t)1 << 32)

/* At the first sample, and then after every TICKS_PER_LOOK. */
static void look_at_clock(struct thread *thread)
{
    if (!arena_file_begin_thread(thread))
        return; /* at the next sample again */
    const struct moment now = moment_now(NEAR_TICKS);
    thread->looked_at = now.ticks;
    if (thread->flushed_at == 0)
        thread->flushed_at = now.wall;
    arena_file_look(thread, now);
    if (thread_image_is_live(thread)) {
        process_chunks_write_pending(true);
    } else if (now.wall - thread->flushed_at >= FLUSH_INTERVAL) {
        thread->flushed_at = now.wall;
        flush_thread(thread, false);
    }
}

/* Writes what the thread has collected if that is due, or if the thread's image can't keep it. */
static void write_if_due(struct thread *thread, uint64_t ticks)
{
    if (!thread->looked_at || ticks - thread->looked_at >= TICKS_PER_LOOK)
        look_at_clock(thread);
    if (thread_image_is_live(thread) && !thread_image_is_whole(thread))
        flush_thread(thread, false);
}

/* A signal of `event` in its thread. */
static void take_sample(struct thread *thread, struct thread_event *event, const siginfo_t *info,
                        const ucontext_t *context)
{
    atomic_store(&thread->busy, true);
    bool stopping = atomic_load(&sampling.stopping);
    struct increment increment = {.fired = false};
    if (atomic_load_explicit(&sampling.on, memory_order_relaxed) &&
        !atomic_load(&thread->samples_blocked))
        increment = source_measure(thread, event, info, context);
    if (increment.fired && stopping) {
        sample_count_missed(event, &increment);
    } else if (increment.fired) {
        sample_record(thread, event, &increment, context, sample_trace_place(thread));
        uint64_t ticks = ticks_now();
        arena_file_commit(thread, ticks);
        sample_trace(thread, event, &increment);
        source_arm(thread, event);
        write_if_due(thread, ticks);
    }
    atomic_store_explicit(&thread->busy, false, memory_order_release);
}

/* The signal does not say which event it is for: takes a sample of each that is due. */
static void take_due_samples(struct thread *thread, const ucontext_t *context)
{
    static const siginfo_t nothing;
    for (unsigned i = 0; i < thread->event_count; i++)
        if (source_is_due(&thread->events[i]))
            take_sample(thread, &thread->events[i], &nothing, context);
}

/* ---- signals of a tracer ---- */

#define FIELD "TracerPid:\t"

static bool is_tracer(uint64_t pid)
{
    char status[512]; /* TracerPid is among the first lines, of a few bytes each */
    size_t size = small_file_read("/proc/thread-self/status", status, sizeof status);
    size_t name = strlen(FIELD);
    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        uint64_t tracer;
        const char *number = line + name;
        if (number < status + size && memcmp(line, FIELD, name) == 0)
            return text_parse_number(&number, &tracer) && tracer == pid;
    }
    return false;
}

/* Whether a signal seems to come from the tracer of the calling thread. When a debugger or ltrace
 * passes a signal on at a later stop than the one that reported it, the kernel replaces its siginfo
 * by one that names the tracer as the sender. */
static bool is_from_tracer(const siginfo_t *info)
{
    return info->si_code == SI_USER && info->si_pid > 0 && is_tracer((uint64_t)info->si_pid);
}

/* ---- the handler ---- */

/* The call that the sample interrupted goes on. Others wait until it has read the program's code. */
static void let_call_go_on(struct thread *thread, void *context)
{
    atomic_store(&thread->busy, true);
    bool may_be_canceled = ended_call_goes_on(thread, context);
    atomic_store_explicit(&thread->busy, false, memory_order_release);
    if (may_be_canceled)
        cancel_if_requested(context);
}

bool handler_on_signal(const siginfo_t *info, void *context)
{
    struct thread *thread = thread_self;
    struct thread_event *event = thread ? source_of_signal(thread, info) : NULL;
    if (!event && !(thread && is_from_tracer(info)))
        return false;
    struct strand_pause pause = {0};
    if (process.config.work_span)
        pause = strand_pause(false);
    thread_samples_handled++;
    restart_mark(context);
    if (event)
        take_sample(thread, event, info, context);
    else
        take_due_samples(thread, context);
    if (process.config.work_span)
        strand_go_on(&pause);
    let_call_go_on(thread, context);
    return true;
}

/* ---- samples without a signal of their own ---- */

/* Whether a sampling signal is pending for this thread: its handler will take the sample. */
static bool sample_is_pending(void)
{
    uint64_t pending = 0;
    sys2(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & sys_mask_bit(process.signal);
}

/* Sets the signal mask of the sampling signal's handler meanwhile. */
static void take_lost_samples(struct thread *thread, const siginfo_t *info,
                              const ucontext_t *context)
{
    uint64_t faults = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS);
    uint64_t mask = sys_mask(SIG_SETMASK, ~faults);
    for (unsigned i = 0; i < thread->event_count; i++)
        if (source_has_lost_sample(&thread->events[i]))
            take_sample(thread, &thread->events[i], info, context);
    thread_samples_handled++;
    sys_mask(SIG_SETMASK, mask);
}

bool handler_take_lost(int signal, const siginfo_t *info, void *context, bool alone)
{
    struct thread *thread = thread_self;
    bool any = false;
    if (signal != SIGIO || info->si_code != SI_KERNEL || !thread)
        return false;
    for (unsigned i = 0; i < thread->event_count; i++)
        any |= source_is_perf(&thread->events[i]);
    if (any && !atomic_load(&thread->busy) && !sample_is_pending())
        take_lost_samples(thread, info, context);
    if (any && alone && !atomic_load(&thread->busy))
        let_call_go_on(thread, context);
    return any;
}

void handler_count_overdue(struct thread *thread)
{
    if (!atomic_load(&sampling.on))
        return;
    for (unsigned i = 0; i < thread->event_count; i++) {
        struct increment increment = source_overdue(&thread->events[i]);
        if (increment.fired)
            sample_count_missed(&thread->events[i], &increment);
    }
}
