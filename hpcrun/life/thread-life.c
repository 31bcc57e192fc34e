#include "hpcrun/life/thread-life.h"

#include "hpcrun/base/own-section.h"
#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/sample/creation.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/thread/live-threads.h"
#include "hpcrun/thread/ready-time.h"
#include "hpcrun/thread/signal-stack.h"
#include "hpcrun/thread/thread-image.h"
#include "hpcrun/thread/thread-start.h"

#include <assert.h>
#include <string.h>

/* A concurrent stop may have missed these events, since they were not yet shared; pause them now.
 */
static void open_events(struct thread *thread)
{
    for (unsigned i = 0; i < thread->event_count; i++)
        source_open(thread, &thread->events[i]);
    atomic_store(&thread->events_shared, true);
    if (atomic_load(&sampling.stopping) || !atomic_load(&sampling.on))
        for (unsigned i = 0; i < thread->event_count; i++)
            source_pause(&thread->events[i]);
}

/* Does not take the list's lock: many threads that end at once would all wait for it, unsampled. */
static void close_events(struct thread *thread)
{
    static const struct timespec nap = {.tv_nsec = 20000};
    atomic_store(&thread->events_shared, false);
    while (atomic_load(&thread->events_in_use))
        sys2(SYS_nanosleep, &nap, NULL);
    handler_count_overdue(thread);
    for (unsigned i = 0; i < thread->event_count; i++)
        source_close(&thread->events[i]);
}

void thread_announce_to_agents(struct thread *thread)
{
    agent_query_thread_begin(&thread->logical.query, &thread->unwinder, thread->tid,
                             thread->routine);
}

void thread_adopt(struct thread *thread, uint64_t stack_low, uint64_t stack_high)
{
    assert(!thread_self && stack_low <= stack_high);
    if (!thread)
        return;
    uint64_t mask = own_section_begin();
    thread->unwinder.stack_low = stack_low;
    thread->unwinder.stack_high = stack_high;
    thread->unwinder.fault_handler = process.fault_handler;
    atomic_store(&thread->busy, true);
    thread_start_over(thread);
    threads_enlist(thread);
    slot_take(thread->tid, thread->index, stack_low, stack_high);
    thread_announce_to_agents(thread);
    thread_self = thread;
    signal_stack_begin(thread);
    open_events(thread);
    atomic_store(&thread->busy, false);
    own_section_end(mask & ~sys_mask_bit(process.signal));
}

void thread_leave(void)
{
    struct thread *thread = thread_self;
    if (!thread)
        return;
    uint64_t mask = own_section_begin();
    signal_stack_end(thread);
    thread_self = NULL;
    close_events(thread);
    slot_release();
    agent_query_thread_end(&thread->logical.query);
    span_tree_thread_ends();
    thread->ended_waits = own_cpu_waits_since_begin(thread);
    thread->ended_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&thread->ended_wall, sys_clock(CLOCK_MONOTONIC));
    atomic_store(&thread->busy, true);
    if (!atomic_load(&sampling.stopping)) /* else another thread may be reading the record */
        thread->written = flush_thread(thread, true);
    atomic_store(&thread->busy, false);
    if (thread->written)
        thread_retire(thread);
    own_section_end(mask);
}

static void abandon_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_abandon(&thread->events[i]);
}

void thread_after_fork(void)
{
    struct thread *self = thread_self;
    threads_visit(abandon_events, NULL);
    sources_after_fork();
    threads_clear(self);
    if (!self) {
        slots_after_fork(0, 0);
        return;
    }
    uint64_t mask = own_section_begin();
    thread_image_after_fork(self);
    cct_free(&self->cct); /* clearing it would copy the parent's pages */
    segments_free(&self->trace);
    segments_free(&self->marks);
    segments_free(&self->wake_ups);
    logical_free(&self->logical);
    self->kind = THREAD_INITIAL;
    thread_start_over(self);
    threads_enlist(self);
    slots_after_fork(self->tid, self->index);
    creation_inherit(self);
    open_events(self);
    own_section_end(mask);
}
