/* Threads that outlive the call that created them, and threads that do not: pools that serve several
 * phases, threads that are detached, joined by another thread, in another procedure, in a loop, by
 * every function that joins. Each job uses CPU time in a procedure of its own. Prints for each
 * "JOB BURNED COUNTED": the ns that all its calls used on purpose, and by their threads' CPU
 * clocks; and the same for some phases, with what the thread itself did in them: jobs, and to create,
 * wake and join threads. */
#include "tests/programs/hpcrun/burn.h"

#include <semaphore.h>
#include <threads.h>

#define MS      1000000u
#define WORKERS 3

struct ledger {
    const char *name;
    _Atomic uint64_t burned, counted;
};

#define MOST_JOBS 64
static struct ledger *jobs[MOST_JOBS];
static unsigned job_count;

static void use(struct ledger *job)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    job->burned += burn(30 * MS);
    job->counted += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* The first sample of a thread takes as long as several others, at most 2.4 ms as seen on a busy machine
 * with slow page faults. The second one pays that time: it shall not be in a phase or job. */
__attribute__((noinline)) static void take_first_samples(void)
{
    burn(5 * MS);
    __asm__ volatile("");
}

/* A procedure that does a job. The code after the call prevents a tail call. */
#define JOB(job)                                                                                   \
    static struct ledger its_##job = {.name = #job};                                               \
    __attribute__((constructor)) static void list_##job(void)                                      \
    {                                                                                              \
        jobs[job_count++] = &its_##job;                                                            \
    }                                                                                              \
    __attribute__((noinline)) static void job(void)                                                \
    {                                                                                              \
        use(&its_##job);                                                                           \
        __asm__ volatile("");                                                                      \
    }

/* A start routine that does a job and ends. */
#define THREAD(routine, job)                                                                       \
    JOB(job)                                                                                       \
    __attribute__((noinline)) static void *routine(void *argument)                                 \
    {                                                                                              \
        job();                                                                                     \
        return argument;                                                                           \
    }

#define PHASE __attribute__((noinline)) static void

/* A phase that counts its CPU time. */
struct count {
    struct ledger *ledger;
    uint64_t begin;
};

static struct count count_begin(struct ledger *ledger)
{
    jobs[job_count++] = ledger;
    return (struct count){ledger, clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static void count_end(struct count *count)
{
    count->ledger->counted = clock_ns(CLOCK_THREAD_CPUTIME_ID) - count->begin;
}

/* For the rest of the procedure, which is called once. */
#define COUNTED(phase)                                                                             \
    static struct ledger ledger_of_##phase = {.name = #phase};                                     \
    __attribute__((cleanup(count_end), unused)) struct count count = count_begin(&ledger_of_##phase)

/* ---- pools ---- */

struct pool {
    pthread_t id[WORKERS];
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*job)(void);
    unsigned round, left;
    bool ends;
};

#define POOL                                                                                       \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                    \
    }

static void serve(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    for (unsigned round = 0;; round++) {
        while (pool->round == round && !pool->ends)
            pthread_cond_wait(&pool->changed, &pool->mutex);
        if (pool->ends)
            break;
        pthread_mutex_unlock(&pool->mutex);
        pool->job();
        pthread_mutex_lock(&pool->mutex);
        if (--pool->left == 0)
            pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
}

#define WORKER(routine)                                                                            \
    __attribute__((noinline)) static void *routine(void *pool)                                     \
    {                                                                                              \
        serve(pool);                                                                               \
        return pool;                                                                               \
    }

PHASE pool_start(struct pool *pool, void *(*worker)(void *))
{
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&pool->id[i], NULL, worker, pool);
}

PHASE pool_run(struct pool *pool, void (*job)(void))
{
    pthread_mutex_lock(&pool->mutex);
    pool->job = job;
    pool->round++;
    pool->left = WORKERS;
    pthread_cond_broadcast(&pool->changed);
    while (pool->left)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

PHASE pool_end(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->ends = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(pool->id[i], NULL);
}

/* Created by its first phase, kept until the process ends. */
static struct pool kept = POOL;
JOB(kept_one)
JOB(kept_two)
JOB(own_kept_one)
JOB(own_kept_two)
WORKER(kept_worker)

PHASE kept_first(void)
{
    COUNTED(kept_first);
    pool_start(&kept, kept_worker);
    pool_run(&kept, kept_one);
    own_kept_one();
    __asm__ volatile("");
}

PHASE kept_second(void)
{
    COUNTED(kept_second);
    pool_run(&kept, kept_two);
    own_kept_two();
    __asm__ volatile("");
}

/* Created by its first phase, ended by its last. */
static struct pool ended = POOL;
JOB(ended_one)
JOB(ended_two)
JOB(own_ended_one)
WORKER(ended_worker)

PHASE ended_first(void)
{
    COUNTED(ended_first);
    pool_start(&ended, ended_worker);
    pool_run(&ended, ended_one);
    own_ended_one();
    __asm__ volatile("");
}

PHASE ended_second(void)
{
    COUNTED(ended_second);
    pool_run(&ended, ended_two);
    __asm__ volatile("");
}

PHASE ended_last(void)
{
    COUNTED(ended_last);
    pool_end(&ended);
    __asm__ volatile("");
}

PHASE ended_phases(void)
{
    ended_first();
    ended_second();
    ended_last();
    __asm__ volatile("");
}

/* A pool that a thread of another pool creates. */
static struct pool inner = POOL;
JOB(inner_job)
JOB(outer_job)
WORKER(inner_worker)

__attribute__((noinline)) static void *outer_worker(void *argument)
{
    take_first_samples();
    pool_start(&inner, inner_worker);
    pool_run(&inner, inner_job);
    outer_job();
    pool_end(&inner);
    return argument;
}

PHASE nested_phase(void)
{
    pthread_t outer;
    pthread_create(&outer, NULL, outer_worker, NULL);
    pthread_join(outer, NULL);
    __asm__ volatile("");
}

/* ---- threads that are joined where they were created ---- */

THREAD(loop_worker, loop_job)

PHASE loop_phase(void)
{
    pthread_t id[WORKERS];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < WORKERS; i++)
            pthread_create(&id[i], NULL, loop_worker, NULL);
        for (int i = 0; i < WORKERS; i++)
            pthread_join(id[i], NULL);
    }
}

THREAD(helped_worker, helped_job)

PHASE join_for_helped(pthread_t id)
{
    pthread_join(id, NULL);
    __asm__ volatile("");
}

PHASE helped_phase(void)
{
    pthread_t id;
    pthread_create(&id, NULL, helped_worker, NULL);
    join_for_helped(id);
    __asm__ volatile("");
}

/* The compiler makes one procedure of these two. */
THREAD(inlined_worker, inlined_job)

__attribute__((always_inline)) static inline pthread_t inlined_first(void)
{
    pthread_t id;
    pthread_create(&id, NULL, inlined_worker, NULL);
    return id;
}

PHASE inlined_phases(void)
{
    pthread_t id = inlined_first();
    pthread_join(id, NULL);
    __asm__ volatile("");
}

THREAD(deep_worker, deep_job)

__attribute__((noinline)) static int deeper(volatile int depth)
{
    pthread_t id;
    if (depth > 0)
        return deeper(depth - 1) + depth;
    pthread_create(&id, NULL, deep_worker, NULL);
    pthread_join(id, NULL);
    return depth;
}

PHASE deep_phase(void)
{
    deeper(400);
    __asm__ volatile("");
}

THREAD(tried_worker, tried_job)
THREAD(timed_worker, timed_job)
THREAD(clocked_worker, clocked_job)
JOB(c11_job)

__attribute__((noinline)) static int c11_worker(void *argument)
{
    c11_job();
    return argument != NULL;
}

PHASE many_joins(void)
{
    const struct timespec passed = {0},
                          later = {.tv_sec = clock_ns(CLOCK_REALTIME) / 1000000000u + 1000};
    pthread_t tried, timed, clocked;
    thrd_t c11;
    pthread_create(&tried, NULL, tried_worker, NULL);
    while (pthread_tryjoin_np(tried, NULL) != 0)
        thrd_yield();
    pthread_create(&timed, NULL, timed_worker, NULL);
    pthread_timedjoin_np(timed, NULL, &passed);
    pthread_timedjoin_np(timed, NULL, &later);
    pthread_create(&clocked, NULL, clocked_worker, NULL);
    pthread_clockjoin_np(clocked, NULL, CLOCK_REALTIME, &later);
    thrd_create(&c11, c11_worker, NULL);
    thrd_join(c11, NULL);
    __asm__ volatile("");
}

/* ---- threads that their creator does not join ---- */

static sem_t ending;

#define DETACHED(routine, job, detach)                                                             \
    JOB(job)                                                                                       \
    __attribute__((noinline)) static void *routine(void *argument)                                 \
    {                                                                                              \
        detach;                                                                                    \
        job();                                                                                     \
        sem_post(&ending);                                                                         \
        return argument;                                                                           \
    }

DETACHED(attribute_worker, attribute_job, )
DETACHED(call_worker, call_job, )
DETACHED(self_worker, self_job, pthread_detach(pthread_self()))

PHASE detached_phase(void)
{
    COUNTED(detached_phase);
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sem_init(&ending, 0, 0);
    pthread_create(&id, &attributes, attribute_worker, NULL);
    pthread_create(&id, NULL, call_worker, NULL);
    pthread_detach(id);
    pthread_create(&id, NULL, self_worker, NULL);
    for (int i = 0; i < 3; i++)
        sem_wait(&ending);
}

THREAD(reaped_worker, reaped_job)
JOB(reaper_job)

__attribute__((noinline)) static void *reaper(void *id)
{
    reaper_job();
    pthread_join(*(pthread_t *)id, NULL);
    return NULL;
}

PHASE reaped_phase(void)
{
    pthread_t reaped, joins;
    pthread_create(&reaped, NULL, reaped_worker, NULL);
    pthread_create(&joins, NULL, reaper, &reaped);
    pthread_join(joins, NULL);
    __asm__ volatile("");
}

int main(void)
{
    take_first_samples();
    kept_first();
    kept_second();
    ended_phases();
    nested_phase();
    loop_phase();
    helped_phase();
    inlined_phases();
    deep_phase();
    many_joins();
    detached_phase();
    reaped_phase();
    for (unsigned i = 0; i < job_count; i++)
        printf("%s %lu %lu\n", jobs[i]->name, (unsigned long)jobs[i]->burned,
               (unsigned long)jobs[i]->counted);
    return 0;
}
