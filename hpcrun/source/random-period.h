/* Signal handler: everything here runs there.
 *
 * The random periods of all sample sources. */
#ifndef HPCRUN_SOURCE_RANDOM_PERIOD_H
#define HPCRUN_SOURCE_RANDOM_PERIOD_H

#include "hpcrun/thread/thread.h"

/* The first period after a start, uniform in (0, mean]. */
static inline uint64_t random_first_period(struct thread *thread, uint64_t mean)
{
    return 1 + thread_random(thread, mean);
}

/* A period uniform in half to one and a half times the mean. The width of this range is the mean
 * itself, so that consecutive samples are uncorrelated in a program that repeats itself with this
 * period or a fraction of it. With +-10 % they would stay correlated for dozens of samples. */
static inline uint64_t random_period(struct thread *thread, uint64_t mean)
{
    uint64_t half = mean / 2;
    return half ? mean - half + thread_random(thread, 2 * half + 1) : mean;
}

#endif
