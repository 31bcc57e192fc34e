/* Phases of OpenMP, one for each construct that waits, with bodies of some milliseconds. The program
 * that includes this decides what a body does: lockstep.c.
 *
 *     for (const struct phase *phase = phases; phase->run; phase++)
 *         phase->run(); */
#ifndef TESTS_CONSTRUCT_PHASES_H
#define TESTS_CONSTRUCT_PHASES_H

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* Runs a body. */
__attribute__((noinline)) void body(int milliseconds);

static int scale;                /* how often a phase repeats its construct */
static _Atomic uint32_t workers; /* that the runtime has in this phase; 0: not known */

#define PHASE __attribute__((noinline)) static void

PHASE balanced(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel
        body(20);
    }
}

PHASE imbalanced(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel
        body(8 * (omp_get_thread_num() + 1));
    }
}

PHASE serial(void)
{
    for (int round = 0; round < scale; round++) {
        body(10);
#pragma omp parallel
        body(10);
    }
}

PHASE dynamic(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 4 * scale; i++)
        body(4 + i % 5);
}

PHASE barriers(void)
{
#pragma omp parallel
    for (int round = 0; round < scale; round++) {
        body(omp_get_thread_num() % 2 ? 15 : 5);
#pragma omp barrier
    }
}

PHASE single(void)
{
#pragma omp parallel
    for (int round = 0; round < scale; round++) {
#pragma omp single
        body(10);
        body(10);
    }
}

/* The others get the value when the block has ended. */
PHASE copied(void)
{
#pragma omp parallel
    for (int round = 0; round < scale; round++) {
        int milliseconds;
#pragma omp single copyprivate(milliseconds)
        {
            body(10);
            milliseconds = 5 + round % 3;
        }
        body(milliseconds);
    }
}

PHASE convoy(void)
{
#pragma omp parallel
    for (int round = 0; round < scale / 2; round++)
#pragma omp critical
        body(5);
}

PHASE named_convoy(void)
{
#pragma omp parallel
    for (int round = 0; round < scale / 2; round++) {
        body(5);
#pragma omp critical(name)
        body(5);
    }
}

PHASE locks(void)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (int round = 0; round < scale / 4; round++) {
        omp_set_lock(&lock);
        body(8);
        omp_unset_lock(&lock);
        body(8);
    }
}

PHASE ordered(void)
{
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 2 * scale; i++) {
        body(6);
#pragma omp ordered
        body(4);
    }
}

PHASE sections(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel sections
        {
#pragma omp section
            body(20);
#pragma omp section
            body(10);
        }
    }
}

static void fib(int n)
{
    if (n < 2) {
        body(10);
        return;
    }
#pragma omp task
    fib(n - 1);
#pragma omp task
    fib(n - 2);
    body(5);
#pragma omp taskwait
}

PHASE tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 8; round++)
        fib(5);
}

PHASE producer(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * scale; i++) {
        body(3);
#pragma omp task
        body(7);
    }
}

PHASE taskgroups(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale; round++) {
#pragma omp taskgroup
        for (int i = 0; i < 3; i++)
#pragma omp task
            body(6);
        body(4);
    }
}

PHASE taskloop(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 4; round++)
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 9; i++)
            body(6);
}

/* The construct ends while its tasks run: its thread works in the body behind it, creates others, and
 * executes some of them while it waits for the others. */
PHASE left_taskloop(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 4; round++) {
#pragma omp taskloop grainsize(1) nogroup
        for (int i = 0; i < 9; i++)
            body(6);
        body(4);
#pragma omp taskloop grainsize(1) nogroup
        for (int i = 0; i < 3; i++)
            body(5);
#pragma omp taskwait
        body(3);
    }
}

/* With clang, each task is executed in three parts. */
PHASE untied(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * scale; i++) {
#pragma omp task untied
        {
            body(3);
#pragma omp task
            body(4);
#pragma omp taskyield
            body(5);
#pragma omp taskwait
            body(6);
        }
    }
}

/* With more tasks than libomp creates at once: tasks of its own create them. */
PHASE split_taskloop(void)
{
    const int tasks = 12 * omp_get_max_threads();
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < tasks; i++)
        body(2 + i % 3);
}

/* Nothing is cancelled, but the barrier is one that could be. */
PHASE cancellable(void)
{
#pragma omp parallel
    for (int round = 0; round < scale / 2; round++) {
        body(omp_get_thread_num() % 2 ? 9 : 6);
#pragma omp barrier
        body(5);
#pragma omp cancel parallel if (scale < 0)
    }
}

#ifndef __clang__
/* It waits for one of two tasks. libomp says nothing of such a wait. */
PHASE dependences(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 2; round++) {
        int one = 0;
        (void)one;
#pragma omp task depend(out : one)
        body(6);
#pragma omp task
        body(8);
#pragma omp taskwait depend(in : one)
        body(4);
    }
}
#endif

PHASE task_reduction(void)
{
    int sum = 0;
#pragma omp parallel
    for (int round = 0; round < scale / 4; round++) {
#pragma omp for reduction(task, + : sum)
        for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : sum)
            {
                body(4 + i % 3);
                sum++;
            }
        }
        body(5);
    }
}

static void *run_region(void *unused)
{
#pragma omp parallel
    {
        body(8 * (omp_get_thread_num() + 1));
#pragma omp barrier
        body(5);
    }
    return unused;
}

/* The initial thread is of no use to OpenMP while it joins another one. Each has a team of its own.
 * */
PHASE threads(void)
{
    const uint32_t team = (uint32_t)omp_get_max_threads();
    workers = team - 1 + team;
    for (int round = 0; round < scale / 4; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_region, NULL);
        pthread_join(thread, NULL);
    }
    workers = 0;
}

/* Waiting by functions of libc, in a region. */
PHASE libc_waits(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_barrier_t all_here;
    static sem_t permits;
    pthread_barrier_init(&all_here, NULL, (unsigned)omp_get_max_threads());
    sem_init(&permits, 0, 1);
#pragma omp parallel
    for (int round = 0; round < scale / 4; round++) {
        body(5 * (omp_get_thread_num() + 1));
        pthread_barrier_wait(&all_here);
        sem_wait(&permits);
        body(6);
        sem_post(&permits);
        pthread_mutex_lock(&lock);
        body(4);
        pthread_mutex_unlock(&lock);
    }
}

static const struct phase {
    const char *name;
    void (*run)(void);
    bool spins; /* libomp waits busily in it */
} phases[] = {
    {"balanced", balanced, false},
    {"imbalanced", imbalanced, false},
    {"serial", serial, false},
    {"dynamic", dynamic, false},
    {"barriers", barriers, false},
    {"single", single, false},
    {"copied", copied, false},
    {"convoy", convoy, true},
    {"named_convoy", named_convoy, true},
    {"locks", locks, true},
    {"ordered", ordered, true},
    {"sections", sections, false},
    {"tasks", tasks, true},
    {"producer", producer, true},
    {"taskgroups", taskgroups, true},
    {"taskloop", taskloop, true},
    {"left_taskloop", left_taskloop, true},
    {"untied", untied, true},
    {"split_taskloop", split_taskloop, true},
    {"threads", threads, false},
    {"libc_waits", libc_waits, false},
    {"cancellable", cancellable, false},
    {"task_reduction", task_reduction, true},
#ifndef __clang__
    {"dependences", dependences, true},
#endif
    {NULL, NULL, false},
};

#endif
