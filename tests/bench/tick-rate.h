/* How fast the time stamp counter counts. */
#ifndef TESTS_BENCH_TICK_RATE_H
#define TESTS_BENCH_TICK_RATE_H

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

static double ticks_per_ns(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    uint64_t from = __rdtsc();
    do
        clock_gettime(CLOCK_MONOTONIC, &b);
    while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < 20000000);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    return (double)(__rdtsc() - from) / ns;
}

#endif
