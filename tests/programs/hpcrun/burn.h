/* What programs of tests share: what most need of the C library, and functions that use a known amount
 * of CPU time, measured by the thread's CPU clock. */
#ifndef TESTS_PROGRAMS_BURN_H
#define TESTS_PROGRAMS_BURN_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    uint64_t x = __atomic_load_n(&burn_sink, __ATOMIC_RELAXED) + 1;
    for (int i = 0; i < 4000; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    __atomic_store_n(&burn_sink, x, __ATOMIC_RELAXED);
}

/* The time for which `burn` runs without reading the CPU clock. */
#define BURN_LOOK_NS 20000000u

/* Uses the calling thread's CPU until its CPU clock is at least `ns` behind `begin`, an earlier reading
 * of it. Returns the last reading: a little later than asked for, or a lot if a virtual machine was
 * halted meanwhile and the kernel counted the halt as the thread's time.
 *
 * It reads the CPU clock as seldom as possible. At each read the kernel (6.18) updates the thread's
 * time slice, and may take the CPU away at its end, before the tick. So on a busy machine a tick
 * hardly ever finds such a thread running, and only ticks check POSIX timers of the CPU clock: one of
 * 200 us was seen to fire after 2 s. Reading the wall clock takes no call into the kernel. */
__attribute__((noinline, unused)) static uint64_t burn_from(uint64_t begin, uint64_t ns)
{
    uint64_t end = begin + ns, now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (; now < end; now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) {
        uint64_t least = end - now < BURN_LOOK_NS ? end - now : BURN_LOOK_NS;
        uint64_t look = clock_ns(CLOCK_MONOTONIC) + least;
        while (clock_ns(CLOCK_MONOTONIC) < look)
            burn_unit();
    }
    return now;
}

/* Uses `ns` of the calling thread's CPU time and returns the time used. */
__attribute__((noinline, unused)) static uint64_t burn(uint64_t ns)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return burn_from(begin, ns) - begin;
}

#endif
