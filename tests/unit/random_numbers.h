/* Pseudo-random numbers for unit tests: the same in each run. Each file that includes this has its own sequence, which
 * begins anew where the file sets random_state. Knuth's linear congruential generator (MMIX), of which the upper bits
 * are used. */
#ifndef TESTS_UNIT_RANDOM_NUMBERS_H
#define TESTS_UNIT_RANDOM_NUMBERS_H

#include <stdint.h>

static uint64_t random_state = 1;

/* Uniform in [0, limit), but for a rounding error; 0 < limit <= 2^31. */
static inline uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

#endif
