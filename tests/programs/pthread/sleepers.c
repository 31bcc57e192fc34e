/* Threads that sleep with a lock, one after the other, while the others wait for it:
 *
 *     sleepers THREADS SECONDS
 *
 * Compiled with -fopenmp, they are the threads of a parallel region, and with -DCRITICAL the lock is OpenMP's.
 * Prints "lock wait S": for how long threads waited for
 * the lock, by their own clocks, in all. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 64

#ifndef CRITICAL
static pthread_mutex_t bed_lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static double waited[MOST], end;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

__attribute__((noinline)) static void sleep_with_lock(void)
{
    nap(5000);
    __asm__ volatile("");
}

static void *take_turns(void *its)
{
    double *sum = its;
    while (now() < end) {
        double since = now();
#ifdef CRITICAL
#pragma omp critical(bed)
        {
            *sum += now() - since;
            sleep_with_lock();
        }
#else
        pthread_mutex_lock(&bed_lock);
        *sum += now() - since;
        sleep_with_lock();
        pthread_mutex_unlock(&bed_lock);
#endif
        nap(1000);
    }
    return NULL;
}

static void run(int threads)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    take_turns(&waited[omp_get_thread_num()]);
#else
    pthread_t thread[MOST];
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, take_turns, &waited[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
#endif
}

int main(int count, char **arguments)
{
    int threads = count == 3 ? atoi(arguments[1]) : 0;
    double all = 0;
    if (threads < 1 || threads > MOST)
        return 1;
    end = now() + atof(arguments[2]);
    run(threads);
    for (int i = 0; i < threads; i++)
        all += waited[i];
    printf("lock wait %.3f\n", all);
    return 0;
}
