#include "hpcrun/thread/thread-start.h"

#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/live-threads.h"
#include "hpcrun/thread/ready-time.h"
#include "hpcrun/thread/thread-image.h"

#include <string.h>

/* A tree with more nodes is freed when its thread ends; smaller ones are kept for a later thread.
 */
#define KEEP_NODES 8192

/* The same for the records of its trace. */
#define KEEP_RECORDS 1024

void thread_start_over(struct thread *thread)
{
    shared_pages_check();
    thread->tid = sys_gettid();
    thread->began_wall = sys_clock(CLOCK_MONOTONIC);
    thread->began_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    thread->began_waits = cpu_waits_at_begin(thread);
    thread->sampled_ready = 0;
    thread->ended_cpu = 0;
    atomic_store(&thread->ended_wall, 0);
    thread->identity_written = false;
    thread->written = false;
    thread->kept = false;
    thread->quiescent = false;
    thread->flushed_at = 0;
    thread->looked_at = 0;
    thread->random = (thread->began_wall ^ (uint64_t)thread->tid << 32) | 1;
    thread_random(thread, 2);
    thread->event_count = process.config.event_count;
    memset(thread->events, 0, sizeof thread->events);
    for (unsigned i = 0; i < thread->event_count; i++) {
        struct thread_event *event = &thread->events[i];
        event->event = &process.config.events[i];
        event->period = event->event->period;
        event->work = process.metrics.work[i];
        event->wall_time = process.metrics.wall[i];
        event->off_cpu = process.metrics.off_cpu[i];
        event->ready = process.metrics.ready[i];
        event->idleness = process.metrics.idleness[i];
        event->incomplete = process.metrics.incomplete[i];
        event->waiting = process.metrics.waiting[i];
        event->lock_blame = process.metrics.lock_blame[i];
        event->lock_wait = process.metrics.lock_wait[i];
    }
    bool is_traced = process.config.trace_limit > 0;
    thread->traced = is_traced ? &thread->events[process.config.traced] : NULL;
    thread->trace_limit = process.config.trace_limit;
    thread->image_begun = false;
    thread_image_clear(thread);
    unwind_forget(&thread->unwinder);
}

void thread_retire(struct thread *thread)
{
    threads_delist(thread);
    if (thread->trace.count > KEEP_RECORDS)
        segments_free(&thread->trace);
    if (cct_end(&thread->cct) > KEEP_NODES) {
        cct_free(&thread->cct);
        logical_free(&thread->logical);
    } else {
        cct_clear(&thread->cct);
        logical_clear(&thread->logical);
    }
    thread_discard(thread);
}
