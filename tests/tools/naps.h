/* Naps: a body of a test program that takes time but no CPU. It sleeps by a bare system call, which no
 * profiler takes for a wait. */
#ifndef TESTS_TOOLS_NAPS_H
#define TESTS_TOOLS_NAPS_H

#include "tests/programs/hpcrun/burn.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* Sleeps until `until`, in ns of the monotonic clock, whatever interrupts it. */
static inline void nap_until(uint64_t until)
{
    struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    long result;
    do {
        register struct timespec *left __asm__("r10") = NULL;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_clock_nanosleep), "D"(CLOCK_MONOTONIC), "S"(TIMER_ABSTIME),
                           "d"(&at), "r"(left)
                         : "rcx", "r11", "memory");
    } while (result == -EINTR);
}

#endif
