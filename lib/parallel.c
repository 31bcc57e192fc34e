#include "lib/parallel.h"

#include "lib/alloc.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct job {
    parallel_task *task;
    void *context;
    size_t count;
    atomic_size_t next;
};

struct worker {
    struct job *job;
    unsigned number;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct job *job = worker->job;
    for (size_t index; (index = atomic_fetch_add(&job->next, 1)) < job->count;)
        job->task(job->context, worker->number, index);
    return NULL;
}

void parallel_for(size_t count, unsigned workers, parallel_task *task, void *context)
{
    assert(workers > 0);
    struct job job = {.task = task, .context = context, .count = count};
    if (workers > count)
        workers = count ? (unsigned)count : 1;
    struct worker *all = mem_alloc(workers * sizeof *all);
    for (unsigned i = 0; i < workers; i++)
        all[i] = (struct worker){.job = &job, .number = i};
    /* The caller is worker 0. If no more threads can be created, these do the work. */
    unsigned started = 1;
    while (started < workers &&
           pthread_create(&all[started].thread, NULL, work, &all[started]) == 0)
        started++;
    work(&all[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(all[i].thread, NULL);
    free(all);
}

unsigned parallel_default_workers(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}
