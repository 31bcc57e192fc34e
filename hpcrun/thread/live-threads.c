#include "hpcrun/thread/live-threads.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/joinable.h"
#include "hpcrun/thread/signal-stack.h"
#include "hpcrun/thread/thread-image.h"

__thread struct thread *thread_self;
__thread unsigned thread_samples_handled;
__thread unsigned thread_program_handlers;

/* The mapping of one thread. */
struct block {
    struct thread thread;
    _Alignas(4096) struct rule_cache cache;
    struct frame path[UNWIND_FRAMES];
    struct saved_path creation_path;
    struct arena_thread image;
};

static struct {
    struct lock lock;
    struct thread *live;
    struct thread *unused; /* records without a thread, linked by `next` */
    uint32_t begun;
    _Atomic uint32_t alive;
} threads;

static uint64_t lock(void)
{
    return lock_take(&threads.lock);
}

static void unlock(uint64_t mask)
{
    lock_release(&threads.lock, mask);
}

static uint64_t mask_at_fork;

void threads_lock_for_fork(void)
{
    mask_at_fork = lock();
    joinable_lock_for_fork();
}

void threads_unlock_after_fork(void)
{
    joinable_unlock_after_fork();
    unlock(mask_at_fork);
}

bool threads_can_lock(void)
{
    return lock_is_free(&threads.lock) && joinable_can_lock();
}

static struct thread *map_record(void)
{
    struct block *block = sys_pages(sizeof *block);
    if (!block)
        return NULL;
    struct thread *thread = &block->thread;
    thread->unwinder.cache = &block->cache;
    thread->unwinder.path = block->path;
    thread->creation_path = &block->creation_path;
    thread->own_image = &block->image;
    cct_init(&thread->cct, process.metrics.count);
    segments_init(&thread->marks, sizeof(struct arena_mark), ARENA_MARK_BITS);
    segments_init(&thread->wake_ups, sizeof(struct arena_wake_up), ARENA_MARK_BITS);
    segments_init(&thread->trace, sizeof(struct trace_record), ARENA_TRACE_BITS);
    thread_image_init(thread);
    return thread;
}

static void unmap_record(struct thread *thread)
{
    thread_image_after_fork(thread);
    cct_free(&thread->cct);
    segments_free(&thread->trace);
    segments_free(&thread->marks);
    segments_free(&thread->wake_ups);
    logical_free(&thread->logical);
    signal_stack_free(thread);
    sys_pages_free(thread, sizeof(struct block));
}

struct thread *thread_new(enum thread_kind kind)
{
    uint64_t mask = lock();
    struct thread *thread = threads.unused;
    if (thread)
        threads.unused = thread->next;
    unlock(mask);
    if (!thread)
        thread = map_record();
    if (thread) {
        thread->kind = kind;
        memset(thread->calls, 0, sizeof thread->calls);
    }
    return thread;
}

void thread_discard(struct thread *thread)
{
    uint64_t mask = lock();
    thread->next = threads.unused;
    threads.unused = thread;
    unlock(mask);
}

void threads_enlist(struct thread *thread)
{
    uint64_t mask = lock();
    thread->index = threads.begun++;
    thread->previous = NULL;
    thread->next = threads.live;
    if (threads.live)
        threads.live->previous = thread;
    threads.live = thread;
    threads.alive++;
    unlock(mask);
}

void threads_delist(struct thread *thread)
{
    uint64_t mask = lock();
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        threads.live = thread->next;
    if (thread->next)
        thread->next->previous = thread->previous;
    threads.alive--;
    unlock(mask);
}

void threads_clear(struct thread *self)
{
    struct thread *next;
    for (struct thread *thread = threads.live; thread; thread = next) {
        next = thread->next;
        if (thread != self)
            unmap_record(thread);
    }
    for (struct thread *thread = threads.unused; thread; thread = thread->next)
        thread_image_after_fork(thread);
    threads.live = NULL;
    threads.begun = 0;
    atomic_store(&threads.alive, 0);
    joinable_clear();
}

/* Whether the thread is still busy when the clock shows `deadline`. */
static bool stays_busy(struct thread *thread, uint64_t deadline)
{
    static const struct timespec nap = {.tv_nsec = 20000};
    while (atomic_load(&thread->busy)) {
        if (sys_clock(CLOCK_MONOTONIC) > deadline)
            return true;
        sys2(SYS_nanosleep, &nap, NULL);
    }
    return false;
}

bool threads_quiesce(uint64_t wait_ns)
{
    uint64_t deadline = sys_clock(CLOCK_MONOTONIC) + wait_ns;
    bool quiet = true;
    uint64_t mask = lock();
    for (struct thread *thread = threads.live; thread; thread = thread->next) {
        thread->quiescent = thread == thread_self || !stays_busy(thread, deadline);
        quiet = quiet && thread->quiescent;
    }
    unlock(mask);
    return quiet;
}

/* A handler takes some microseconds; if it writes to the file, some milliseconds. */
#define BLOCK_WAIT_NS 100000000u

bool thread_block_samples(struct thread *thread)
{
    atomic_store(&thread->samples_blocked, true);
    if (thread == thread_self || !stays_busy(thread, sys_clock(CLOCK_MONOTONIC) + BLOCK_WAIT_NS))
        return true;
    thread_unblock_samples(thread);
    return false;
}

void thread_unblock_samples(struct thread *thread)
{
    atomic_store(&thread->samples_blocked, false);
}

void threads_visit(void (*visit)(struct thread *thread, void *data), void *data)
{
    uint64_t mask = lock();
    for (struct thread *thread = threads.live; thread; thread = thread->next)
        visit(thread, data);
    unlock(mask);
}

uint32_t threads_live(void)
{
    return atomic_load_explicit(&threads.alive, memory_order_relaxed);
}

void threads_visit_events(void (*visit)(struct thread *thread, void *data), void *data)
{
    uint64_t mask = lock();
    for (struct thread *thread = threads.live; thread; thread = thread->next) {
        atomic_store(&thread->events_in_use, true);
        if (atomic_load(&thread->events_shared))
            visit(thread, data);
        atomic_store(&thread->events_in_use, false);
    }
    unlock(mask);
}
