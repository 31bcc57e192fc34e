/* Signal handler: a clock that costs nothing, for intervals about which it does not matter much.
 *
 * The time stamp counter, whose ticks are no longer than nanoseconds; nanoseconds of the monotonic
 * clock from where the program has forbidden its threads to read the counter (prctl, PR_SET_TSC). A
 * difference of one and the other says nothing. */
#ifndef HPCRUN_PROCESS_TICKS_H
#define HPCRUN_PROCESS_TICKS_H

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

static inline uint64_t ticks_now(void)
{
    bool forbidden = atomic_load_explicit(&sampling.no_ticks, memory_order_relaxed);
    return forbidden ? sys_clock(CLOCK_MONOTONIC) : __builtin_ia32_rdtsc();
}

#endif
