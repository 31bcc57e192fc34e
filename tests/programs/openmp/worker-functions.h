/* What programs with known call paths have in common: functions that keep their frames, and work of a
 * known length. */
#ifndef WORKER_FUNCTIONS_H
#define WORKER_FUNCTIONS_H

#include <time.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline, disable_tail_calls)) static
#else
#define FUNCTION __attribute__((noipa)) static
#endif

static inline double cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Computes for a time on the thread's CPU clock. */
static inline void compute(double seconds)
{
    double begin = cpu_time();
    do
        for (volatile int i = 0; i < 1000; i++)
            ;
    while (cpu_time() - begin < seconds);
}

#endif
