/* task-shapes [depend|end|overlap]: parallel regions of known shape for `hpcrun --work-span`, each in a
 * region of include/hpctoolkit.h, which prints its spawns, work and span.
 *
 * TASKS tasks of equal strands are in a row, at once (`if(0)`), in parallel, or in a taskloop, also at once; the
 * tree is a binary one, the last task a final one with such a tree. With `depend` there are two tasks more. With `end`, the program ends inside of a parallel region, with `overlap`
 * two threads are in regions at the same time. */
#include "include/hpctoolkit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 8, DEPTH = 4 };

static volatile long sink;

void tree(int depth);

__attribute__((noinline)) void strand(void)
{
    for (long i = 0; i < 100000; i++)
        sink += i;
}

__attribute__((noinline)) void row(void)
{
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        strand();
#pragma omp taskwait
    }
}

__attribute__((noinline)) void at_once(void)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task if (0)
        strand();
}

__attribute__((noinline)) void crowd(void)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task
        strand();
}

__attribute__((noinline)) void loop(void)
{
#pragma omp taskloop num_tasks(TASKS)
    for (int i = 0; i < 10 * TASKS; i++)
        sink++;
}

__attribute__((noinline)) void loop_at_once(void)
{
#pragma omp taskloop num_tasks(TASKS) if (0)
    for (int i = 0; i < TASKS; i++)
        strand();
}

/* Tasks in a final one run when they are created: their thread runs all strands of the tree. */
__attribute__((noinline)) void last(int depth)
{
#pragma omp task final(1)
    tree(depth);
}

/* 2 * (2^depth - 1) tasks; the end of the region is the first join. */
__attribute__((noinline)) void tree(int depth)
{
    for (int i = 0; depth > 0 && i < 2; i++)
#pragma omp task
        tree(depth - 1);
    strand();
}

__attribute__((noinline)) void depend(void)
{
    int x = 0;
    (void)x;
#pragma omp task depend(out : x)
    strand();
#pragma omp task depend(in : x)
    strand();
}

#define SHAPE(name, ...)                                                                           \
    do {                                                                                           \
        HPCTOOLKIT_REGION_START(#name);                                                            \
        _Pragma("omp parallel") _Pragma("omp single") name(__VA_ARGS__);                           \
        HPCTOOLKIT_REGION_STOP(#name);                                                             \
        HPCTOOLKIT_REGION_DUMP(#name);                                                             \
    } while (0)

static void end_in_region(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    exit(0);
}

static sem_t begun, may_end;

static void *hold_region(void *unused)
{
#pragma omp parallel num_threads(1)
    {
        sem_post(&begun);
        sem_wait(&may_end);
    }
    return unused;
}

static void overlap(void)
{
    pthread_t other;
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 0);
    if (pthread_create(&other, NULL, hold_region, NULL) != 0)
        exit(1);
    sem_wait(&begun);
#pragma omp parallel num_threads(1)
    strand();
    sem_post(&may_end);
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    if (strcmp(which, "end") == 0)
        end_in_region();
    if (strcmp(which, "overlap") == 0) {
        overlap();
        return 0;
    }
    SHAPE(row);
    SHAPE(at_once);
    SHAPE(crowd);
    SHAPE(loop);
    SHAPE(loop_at_once);
    SHAPE(tree, DEPTH);
    SHAPE(last, DEPTH);
    if (strcmp(which, "depend") == 0)
        SHAPE(depend);
    return 0;
}
