/* Signal handler: two clocks at the same time. The kernel likes to take the CPU at the end of a system call: then clocks
 * that are read one after the other are a time slice apart. */
#ifndef HPCRUN_PROCESS_MOMENT_H
#define HPCRUN_PROCESS_MOMENT_H

#include "hpcrun/process/process.h"

#define MOMENT_TRIES 8
#define NEAR_TICKS   16384u /* 4 to 16 us; several times what a reading takes */
#define NEAR_NS      10000u /* the same */

struct moment {
    uint64_t wall, ticks; /* CLOCK_MONOTONIC, ns; ticks_now() */
};

/* Reads both clocks up to MOMENT_TRIES times, until a reading takes at most `enough` ticks. Returns the shortest reading. */
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

/* CLOCK_REALTIME when CLOCK_MONOTONIC was 0, ns; by the shortest of up to MOMENT_TRIES readings. */
static inline uint64_t monotonic_epoch(void)
{
    uint64_t epoch = 0, least = UINT64_MAX;
    for (int i = 0; i < MOMENT_TRIES && least > NEAR_NS; i++) {
        uint64_t before = sys_clock(CLOCK_MONOTONIC), real = sys_clock(CLOCK_REALTIME);
        uint64_t distance = sys_clock(CLOCK_MONOTONIC) - before;
        if (distance < least) {
            least = distance;
            epoch = real - (before + distance / 2);
        }
    }
    return epoch;
}

/* To be called just before the program forbids the calling thread to read the counter. */
static inline void ticks_forbid(void)
{
    if (atomic_load(&sampling.no_ticks))
        return;
    const struct moment now = moment_now(NEAR_TICKS);
    uint64_t elapsed = now.wall - process.began_wall;
    unsigned __int128 ran = now.ticks - process.began_ticks;
    sampling.instead.ticks = now.ticks;
    sampling.instead.wall = now.wall;
    sampling.instead.rate = process.began_wall && elapsed ? (uint64_t)((ran << 32) / elapsed) : 0;
    atomic_store(&sampling.no_ticks, true);
}

#endif
