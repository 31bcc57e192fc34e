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

/* How long `burn` goes on without a look at the CPU clock. */
#define BURN_LOOK_NS 20000000u

/* Uses `ns` of the calling thread's CPU time and returns how much it was: a little more, or a lot
 * where a virtual machine was halted meanwhile and the kernel took that for the thread's time.
 *
 * It looks at the CPU clock as seldom as it can: by each look the kernel (6.18) counts the thread's
 * slice, and may take the CPU away at its end, before the tick. On a busy machine a thread that
 * looks all the time is hardly ever the one that a tick finds running, and only then POSIX timers
 * of the CPU clock are looked after: one of 200 us was seen to fire after 2 s. The wall clock takes
 * no call into the kernel. */
__attribute__((noinline, unused)) static uint64_t burn(uint64_t ns)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), end = begin + ns, now = begin;
    for (; now < end; now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) {
        uint64_t least = end - now < BURN_LOOK_NS ? end - now : BURN_LOOK_NS;
        uint64_t look = clock_ns(CLOCK_MONOTONIC) + least;
        while (clock_ns(CLOCK_MONOTONIC) < look)
            burn_unit();
    }
    return now - begin;
}

#endif
