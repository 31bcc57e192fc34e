#include "hpcrun/span/task-threads.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/base/sys.h"

#include <stddef.h>

static struct {
    struct lock lock;
    struct task_thread *all, *free;
} threads;

static __thread struct task_thread *self;

static struct task_thread *take_free(void)
{
    uint64_t mask = lock_take(&threads.lock);
    struct task_thread *thread = threads.free;
    if (thread)
        threads.free = thread->next_free;
    lock_release(&threads.lock, mask);
    return thread;
}

static struct task_thread *make(void)
{
    struct task_thread *thread = sys_pages(sizeof *thread);
    if (!thread)
        return NULL;
    thread->tally = span_tally_new();
    if (!thread->tally) {
        sys_pages_free(thread, sizeof *thread);
        return NULL;
    }
    uint64_t mask = lock_take(&threads.lock);
    thread->next = threads.all;
    threads.all = thread;
    lock_release(&threads.lock, mask);
    return thread;
}

/* The clock of a record that is used again is that of another thread. */
struct task_thread *task_thread_mine(void)
{
    if (self)
        return self;
    self = take_free();
    if (!self)
        self = make();
    if (self) {
        self->clock = (struct strand_clock){0};
        self->top = NULL;
        self->frame = self->paused = NULL;
    }
    return self;
}

struct task_thread *task_thread_existing(void)
{
    return self;
}

void task_thread_ends(void)
{
    if (!self)
        return;
    uint64_t mask = lock_take(&threads.lock);
    self->next_free = threads.free;
    threads.free = self;
    lock_release(&threads.lock, mask);
    self = NULL;
}

uint64_t task_threads_work(void)
{
    uint64_t work = 0;
    uint64_t mask = lock_take(&threads.lock);
    for (const struct task_thread *thread = threads.all; thread; thread = thread->next)
        work += thread->work;
    lock_release(&threads.lock, mask);
    return work;
}
