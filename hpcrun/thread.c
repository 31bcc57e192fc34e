#include "hpcrun/thread.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/sample/creation.h"
#include "hpcrun/sample/source.h"

#include <string.h>

__thread struct thread *thread_self;
__thread unsigned thread_samples_handled;
__thread unsigned thread_program_handlers;

/* A tree this large is given back to the system when its thread ends. */
#define KEEP_NODES 8192

/* One mapping per thread. */
struct block {
    struct thread thread;
    _Alignas(4096) struct rule_cache cache;
    struct frame path[UNWIND_FRAMES];
    struct kept_path creation_path;
};

static struct {
    struct lock lock;
    struct thread *live;
    struct thread *idle; /* records without a thread, linked by next */
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
}

void threads_unlock_after_fork(void)
{
    unlock(mask_at_fork);
}

enum fate fate_of_slot(unsigned slot)
{
    if (slot < 4)
        return (enum fate)slot;
    if (slot < 8)
        return (enum fate)(FATE_DROPPED_OWN_CODE + slot - 4);
    if (slot < 14)
        return (enum fate)(FATE_PARTIAL_NO_FDE + slot - 8);
    return FATE_KERNEL_UNATTRIBUTED;
}

/* xorshift64* (Vigna), and the multiplication that maps it to a range (Lemire). */
uint64_t thread_random(struct thread *thread, uint64_t limit)
{
    uint64_t x = thread->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    thread->random = x;
    return (uint64_t)((unsigned __int128)(x * 0x2545f4914f6cdd1du) * limit >> 64);
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
    cct_init(&thread->cct, process.metrics.count);
    return thread;
}

static void unmap_record(struct thread *thread)
{
    cct_free(&thread->cct);
    logical_free(&thread->logical);
    sys_pages_free(thread, sizeof(struct block));
}

struct thread *thread_new(enum thread_kind kind)
{
    uint64_t mask = lock();
    struct thread *thread = threads.idle;
    if (thread)
        threads.idle = thread->next;
    unlock(mask);
    if (!thread)
        thread = map_record();
    if (thread)
        thread->kind = kind;
    return thread;
}

void thread_discard(struct thread *thread)
{
    uint64_t mask = lock();
    thread->next = threads.idle;
    threads.idle = thread;
    unlock(mask);
}

static void enlist(struct thread *thread)
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

static void delist(struct thread *thread)
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

/* What is new for every thread that a record serves. */
static void start_over(struct thread *thread)
{
    thread->tid = sys_gettid();
    thread->began_wall = sys_clock(CLOCK_MONOTONIC);
    thread->began_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    thread->ended_cpu = 0;
    atomic_store(&thread->ended_wall, 0);
    thread->announced = false;
    thread->written = false;
    thread->stuck = false;
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
        event->blocked = process.metrics.blocked[i];
        event->idleness = process.metrics.idleness[i];
    }
    unwind_forget(&thread->unwinder);
}

/* Who stopped sampling before others could see the events has not stopped them. */
static void open_events(struct thread *thread)
{
    for (unsigned i = 0; i < thread->event_count; i++)
        source_open(thread, &thread->events[i]);
    atomic_store(&thread->shared, true);
    if (atomic_load(&sampling.stopping) || !atomic_load(&sampling.on))
        for (unsigned i = 0; i < thread->event_count; i++)
            source_pause(&thread->events[i]);
}

/* Without the list's lock: it would be waited for, while nobody samples, by all threads of a crowd
 * that ends. */
static void close_events(struct thread *thread)
{
    static const struct timespec nap = {.tv_nsec = 20000};
    atomic_store(&thread->shared, false);
    while (atomic_load(&thread->visited))
        sys2(SYS_nanosleep, &nap, NULL);
    for (unsigned i = 0; i < thread->event_count; i++)
        source_close(&thread->events[i]);
}

void thread_tell_agents(struct thread *thread)
{
    consult_thread_begin(&thread->logical.consult, &thread->unwinder, thread->tid, thread->origin);
}

void thread_begin(struct thread *thread, uint64_t stack_low, uint64_t stack_high)
{
    if (!thread)
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    thread->unwinder.stack_low = stack_low;
    thread->unwinder.stack_high = stack_high;
    thread->unwinder.fault_handler = process.fault_handler;
    atomic_store(&thread->busy, true);
    start_over(thread);
    enlist(thread);
    thread_tell_agents(thread);
    thread_self = thread;
    open_events(thread);
    atomic_store(&thread->busy, false);
    sys_mask(SIG_SETMASK, mask & ~sys_mask_bit(process.signal));
}

void thread_end(void)
{
    struct thread *thread = thread_self;
    if (!thread)
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    thread_self = NULL;
    close_events(thread);
    consult_thread_end(&thread->logical.consult);
    thread->ended_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&thread->ended_wall, sys_clock(CLOCK_MONOTONIC));
    atomic_store(&thread->busy, true);
    thread->written = !atomic_load(&sampling.stopping) && flush_thread(thread, true);
    thread->ended = !thread->written;
    atomic_store(&thread->busy, false);
    if (thread->written) {
        delist(thread);
        if (cct_end(&thread->cct) > KEEP_NODES) {
            cct_free(&thread->cct);
            logical_free(&thread->logical);
        } else {
            cct_clear(&thread->cct);
            logical_clear(&thread->logical);
        }
        thread_discard(thread);
    }
    sys_mask(SIG_SETMASK, mask);
}

void threads_after_fork(void)
{
    struct thread *self = thread_self;
    struct thread *next;
    for (struct thread *thread = threads.live; thread; thread = next) {
        next = thread->next;
        for (unsigned i = 0; i < thread->event_count; i++)
            source_abandon(&thread->events[i]);
        if (thread != self)
            unmap_record(thread);
    }
    threads.live = NULL;
    threads.begun = threads.alive = 0;
    if (!self)
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    cct_free(&self->cct); /* clearing it would copy the parent's pages */
    logical_free(&self->logical);
    self->kind = THREAD_INITIAL;
    start_over(self);
    enlist(self);
    creation_inherit(self);
    open_events(self);
    sys_mask(SIG_SETMASK, mask);
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
        thread->stuck = thread != thread_self && stays_busy(thread, deadline);
        quiet = quiet && !thread->stuck;
    }
    unlock(mask);
    return quiet;
}

/* A handler takes some microseconds; one that writes, milliseconds. */
#define HOLD_WAIT_NS 100000000u

bool thread_hold(struct thread *thread)
{
    atomic_store(&thread->held, true);
    if (thread == thread_self || !stays_busy(thread, sys_clock(CLOCK_MONOTONIC) + HOLD_WAIT_NS))
        return true;
    thread_let_go(thread);
    return false;
}

void thread_let_go(struct thread *thread)
{
    atomic_store(&thread->held, false);
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
        atomic_store(&thread->visited, true);
        if (atomic_load(&thread->shared))
            visit(thread, data);
        atomic_store(&thread->visited, false);
    }
    unlock(mask);
}

uint32_t threads_count(void)
{
    uint64_t mask = lock();
    uint32_t begun = threads.begun;
    unlock(mask);
    return begun;
}
