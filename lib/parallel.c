#include "lib/parallel.h"

#include "lib/alloc.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
    parallel_task *task;
    void *context;
    size_t count;
    size_t at_a_time; /* indices that a worker takes */
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
    for (size_t first; (first = atomic_fetch_add(&job->next, job->at_a_time)) < job->count;) {
        size_t end = job->count - first < job->at_a_time ? job->count : first + job->at_a_time;
        for (size_t index = first; index < end; index++)
            job->task(job->context, worker->number, index);
    }
    return NULL;
}

static void run_job(struct job *job, unsigned workers)
{
    assert(workers > 0);
    if (workers > job->count)
        workers = job->count ? (unsigned)job->count : 1;
    autofree struct worker *all = mem_alloc(workers * sizeof *all);
    for (unsigned i = 0; i < workers; i++)
        all[i] = (struct worker){.job = job, .number = i};
    /* The caller is worker 0. If no more threads can be created, these do the work. */
    unsigned started = 1;
    while (started < workers &&
           pthread_create(&all[started].thread, NULL, work, &all[started]) == 0)
        started++;
    work(&all[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(all[i].thread, NULL);
}

void parallel_for(size_t count, unsigned workers, parallel_task *task, void *context)
{
    struct job job = {.task = task, .context = context, .count = count, .at_a_time = 1};
    run_job(&job, workers);
}

/* Takes for each worker, at least: so all workers end at about the same time. */
#define LEAST_TAKES    256
#define MOST_AT_A_TIME 64

void parallel_for_many(size_t count, unsigned workers, parallel_task *task, void *context)
{
    size_t share = count / workers / LEAST_TAKES;
    size_t at_a_time = share == 0 ? 1 : share < MOST_AT_A_TIME ? share : MOST_AT_A_TIME;
    struct job job = {.task = task, .context = context, .count = count, .at_a_time = at_a_time};
    run_job(&job, workers);
}

/* ---- in order ---- */

/* Number of indices, for each worker, that tasks may be ahead of `finish`. */
#define AHEAD 8

struct ordered_job {
    parallel_task *task;
    parallel_finish *finish;
    void *context;
    size_t count, ahead;
    pthread_mutex_t lock;  /* protects the rest */
    pthread_cond_t moved;  /* there may be something to take */
    size_t next;           /* index that the next task gets */
    size_t finished;       /* number of indices for which `finish` has returned */
    bool is_finishing;     /* a worker runs `finish` */
    bool *is_done;         /* by index modulo `ahead`: its task has returned, `finish` has not */
};

/* False if no index is left; waits while tasks must not begin yet. */
static bool take_index(struct ordered_job *job, size_t *index)
{
    pthread_mutex_lock(&job->lock);
    while (job->next < job->count && job->next - job->finished == job->ahead)
        pthread_cond_wait(&job->moved, &job->lock);
    bool taken = job->next < job->count;
    if (taken)
        *index = job->next++;
    pthread_mutex_unlock(&job->lock);
    return taken;
}

/* Notes that a task has returned, and calls `finish` where it comes next, unless another worker does. */
static void end_task(struct ordered_job *job, size_t index)
{
    pthread_mutex_lock(&job->lock);
    job->is_done[index % job->ahead] = true;
    bool is_mine = !job->is_finishing;
    job->is_finishing = true;
    while (is_mine && job->is_done[job->finished % job->ahead]) {
        pthread_mutex_unlock(&job->lock);
        job->finish(job->context, job->finished);
        pthread_mutex_lock(&job->lock);
        job->is_done[job->finished++ % job->ahead] = false;
        pthread_cond_broadcast(&job->moved);
    }
    if (is_mine)
        job->is_finishing = false;
    pthread_mutex_unlock(&job->lock);
}

static void work_in_order(void *context, unsigned worker, size_t unused)
{
    struct ordered_job *job = context;
    (void)unused;
    for (size_t index; take_index(job, &index);) {
        job->task(job->context, worker, index);
        end_task(job, index);
    }
}

void parallel_in_order(size_t count, unsigned workers, parallel_task *task, parallel_finish *finish,
                       void *context)
{
    struct ordered_job job = {
        .task = task,
        .finish = finish,
        .context = context,
        .count = count,
        .ahead = (size_t)workers * AHEAD,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .moved = PTHREAD_COND_INITIALIZER,
    };
    job.is_done = mem_alloc(job.ahead * sizeof *job.is_done);
    if (workers > count)
        workers = count ? (unsigned)count : 1;
    parallel_for(workers, workers, work_in_order, &job);
    free(job.is_done);
}

/* ---- turns ---- */

void parallel_turns_start(struct parallel_turns *turns)
{
    turns->next = 0;
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->passed, NULL);
}

void parallel_turn_wait(struct parallel_turns *turns, size_t index)
{
    pthread_mutex_lock(&turns->lock);
    assert(turns->next <= index);
    while (turns->next != index)
        pthread_cond_wait(&turns->passed, &turns->lock);
    pthread_mutex_unlock(&turns->lock);
}

void parallel_turn_pass(struct parallel_turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->next++;
    pthread_cond_broadcast(&turns->passed);
    pthread_mutex_unlock(&turns->lock);
}

void parallel_turns_end(struct parallel_turns *turns)
{
    pthread_cond_destroy(&turns->passed);
    pthread_mutex_destroy(&turns->lock);
}

unsigned parallel_default_workers(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}
