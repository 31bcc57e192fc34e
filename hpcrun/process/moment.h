/* Signal handler: two clocks at the same time. The kernel likes to take the CPU at the end of a system call: then clocks
 * that are read one after the other are a time slice apart. */
#ifndef HPCRUN_PROCESS_MOMENT_H
#define HPCRUN_PROCESS_MOMENT_H

#include "hpcrun/process/process.h"

#define MOMENT_TRIES 8
#define NEAR_TICKS   16384u /* 4 to 16 us; several times what a reading takes */

struct moment {
    uint64_t wall, ticks; /* CLOCK_MONOTONIC, ns; ticks_now() */
};

/* The closest of some readings, of which the first that took at most `enough` ticks is the last one. */
static inline struct moment moment_now(uint64_t enough)
{
    struct moment closest = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < MOMENT_TRIES && least > enough; i++) {
        uint64_t before = ticks_now(), wall = sys_clock(CLOCK_MONOTONIC);
        uint64_t distance = ticks_now() - before;
        if (distance < least) {
            least = distance;
            closest = (struct moment){wall, before + distance / 2};
        }
    }
    return closest;
}

#endif
