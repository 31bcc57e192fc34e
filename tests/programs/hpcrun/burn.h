/* Using a known amount of CPU time, by the thread's CPU clock. */
#ifndef TESTS_PROGRAMS_BURN_H
#define TESTS_PROGRAMS_BURN_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile uint64_t burn_sink;

/* A few microseconds of arithmetic. */
__attribute__((noinline, unused)) static void burn_unit(void)
{
    uint64_t x = burn_sink + 1;
    for (int i = 0; i < 4000; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    burn_sink = x;
}

/* Uses `ns` of the calling thread's CPU time, a little more at most. */
__attribute__((noinline, unused)) static void burn(uint64_t ns)
{
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        burn_unit();
}

#endif
