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
    struct worker *all = mem_alloc(workers * sizeof *all);
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
    free(all);
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

/* ---- in steps ---- */

/* The steps that an index has behind it. */
enum progress { NO_STEP_DONE, FIRST_DONE, SECOND_DONE };

struct stepped_job {
    const struct parallel_steps *steps;
    void *context;
    size_t count, ahead;
    pthread_mutex_t lock;    /* protects the rest */
    pthread_cond_t moved;    /* there may be something to take */
    size_t first, second;    /* indices that the next call of these steps gets */
    size_t between, finish;  /* indices for which these steps come next */
    bool is_finishing;       /* a worker runs `finish` */
    unsigned char *progress; /* by index modulo `ahead`: enum progress */
};

static unsigned char *progress_of(struct stepped_job *job, size_t index)
{
    return &job->progress[index % job->ahead];
}

/* Takes a call of `second`, or else one of `first`: what `first` leaves shall not pile up. False if
 * no call is left; waits while calls are left but must not begin yet. */
static bool take_step(struct stepped_job *job, bool *is_second, size_t *index)
{
    pthread_mutex_lock(&job->lock);
    while (job->second == job->between && job->second < job->count &&
           (job->first == job->count || job->first - job->finish == job->ahead))
        pthread_cond_wait(&job->moved, &job->lock);
    *is_second = job->second < job->between;
    bool taken = *is_second || job->first < job->count;
    if (taken)
        *index = *is_second ? job->second++ : job->first++;
    pthread_mutex_unlock(&job->lock);
    return taken;
}

/* Notes that `first` has returned, and calls `between` where it comes next. */
static void end_first(struct stepped_job *job, size_t index)
{
    pthread_mutex_lock(&job->lock);
    *progress_of(job, index) = FIRST_DONE;
    while (job->between < job->first && *progress_of(job, job->between) == FIRST_DONE) {
        job->steps->between(job->context, job->between);
        job->between++;
        pthread_cond_broadcast(&job->moved);
    }
    pthread_mutex_unlock(&job->lock);
}

/* Notes that `second` has returned, and calls `finish` where it comes next, unless another worker
 * does. */
static void end_second(struct stepped_job *job, size_t index)
{
    pthread_mutex_lock(&job->lock);
    *progress_of(job, index) = SECOND_DONE;
    bool is_mine = !job->is_finishing;
    job->is_finishing = true;
    while (is_mine && job->finish < job->second && *progress_of(job, job->finish) == SECOND_DONE) {
        pthread_mutex_unlock(&job->lock);
        job->steps->finish(job->context, job->finish);
        pthread_mutex_lock(&job->lock);
        *progress_of(job, job->finish) = NO_STEP_DONE;
        job->finish++;
        pthread_cond_broadcast(&job->moved);
    }
    if (is_mine)
        job->is_finishing = false;
    pthread_mutex_unlock(&job->lock);
}

static void work_in_steps(void *context, unsigned worker, size_t unused)
{
    struct stepped_job *job = context;
    bool is_second;
    (void)unused;
    for (size_t index; take_step(job, &is_second, &index);) {
        if (is_second) {
            job->steps->second(job->context, worker, index);
            end_second(job, index);
        } else {
            job->steps->first(job->context, worker, index);
            end_first(job, index);
        }
    }
}

void parallel_in_steps(size_t count, unsigned workers, size_t ahead,
                       const struct parallel_steps *steps, void *context)
{
    assert(ahead > 0);
    struct stepped_job job = {
        .steps = steps,
        .context = context,
        .count = count,
        .ahead = ahead,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .moved = PTHREAD_COND_INITIALIZER,
    };
    job.progress = mem_alloc(ahead);
    if (workers > count)
        workers = count ? (unsigned)count : 1;
    parallel_for(workers, workers, work_in_steps, &job);
    free(job.progress);
}

/* ---- in order ---- */

/* Number of indices, for each worker, that tasks may be ahead of `finish`. */
#define AHEAD 8

static void do_nothing_between(void *context, size_t index)
{
    (void)context, (void)index;
}

static void do_nothing(void *context, unsigned worker, size_t index)
{
    (void)context, (void)worker, (void)index;
}

void parallel_in_order(size_t count, unsigned workers, parallel_task *task, parallel_finish *finish,
                       void *context)
{
    const struct parallel_steps steps = {task, do_nothing_between, do_nothing, finish};
    parallel_in_steps(count, workers, (size_t)workers * AHEAD, &steps, context);
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
