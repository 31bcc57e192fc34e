/* clocks SCALE: phases, in which it counts the threads that work, beside the agent's count.
 *
 * Bodies sleep instead of computing. So they take as long with any number of CPUs. To the agent a
 * body is work. A thread looks each millisecond how many threads are in bodies, and how many slots
 * of the agent say so. For each phase the program prints
 *     phase NAME LOOKS OWN AGENT      the number of looks, and the sums of both counts */
#include "agents/common/thread-slots.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The agent's, if it is preloaded. */
#pragma weak hpctoolkit_thread_slots
#pragma weak hpctoolkit_thread_slots_used

/* The runtime of the compiler. */
#ifdef __clang__
#define RUNTIME RUNTIME_OMPT
#else
#define RUNTIME RUNTIME_GOMP
#endif

static int scale;
static _Atomic int in_bodies;

static void sleep_for(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};
    while (nanosleep(&t, &t) != 0)
        ;
}

__attribute__((noinline)) void body(int milliseconds)
{
    in_bodies++;
    sleep_for(milliseconds * 1000L);
    in_bodies--;
}

/* -------- the thread that looks -------- */

static struct {
    long looks, own, agents;
} seen;
static _Atomic bool is_looking;

static long agents_count(void)
{
    long count = 0;
    for (uint32_t i = 0; i < hpctoolkit_thread_slots_used; i++)
        count += slot_is_of(&hpctoolkit_thread_slots[i], RUNTIME) &&
                 slot_state(&hpctoolkit_thread_slots[i]) == THREAD_WORKS;
    return count;
}

/* A look counts if the own count did not change meanwhile. */
static void look(void)
{
    long before = in_bodies, count = agents_count();
    if (in_bodies != before || !is_looking)
        return;
    seen.looks++;
    seen.own += before;
    seen.agents += count;
}

static void *looker(void *unused)
{
    for (;; sleep_for(1000))
        look();
    return unused;
}

/* -------- phases -------- */

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

static void run(const char *name, void (*phase)(void))
{
    memset(&seen, 0, sizeof seen);
    is_looking = true;
    phase();
    is_looking = false;
    printf("phase %s %ld %ld %ld\n", name, seen.looks, seen.own, seen.agents);
}
#define RUN(phase) run(#phase, phase)

int main(int count, char **arguments)
{
    pthread_t thread;
    scale = count > 1 ? atoi(arguments[1]) : 20;
    if (!&hpctoolkit_thread_slots || pthread_create(&thread, NULL, looker, NULL) != 0)
        return 1;
    RUN(balanced);
    RUN(imbalanced);
    RUN(serial);
    RUN(dynamic);
    RUN(barriers);
    RUN(single);
    RUN(convoy);
    RUN(named_convoy);
    RUN(locks);
    RUN(ordered);
    RUN(sections);
    RUN(tasks);
    RUN(producer);
    RUN(taskgroups);
    RUN(taskloop);
    return 0;
}
