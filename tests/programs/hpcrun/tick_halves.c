/* tick_halves SECONDS TICK_US: for SECONDS, spends the first half of every tick of CLOCK_MONOTONIC in
 * first_half and the second in second_half. Prints the CPU time of each, in ns. A sampler that runs in
 * step with the ticks sees only one of them. */
#include "burn.h"

static uint64_t tick;

/* Both burn until the clock leaves their half, and return the CPU time that took. */
__attribute__((noinline)) static uint64_t first_half(void)
{
    uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_MONOTONIC) % tick < tick / 2)
        for (int i = 0; i < 200; i++)
            burn_sink += (uint64_t)i;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

__attribute__((noinline)) static uint64_t second_half(void)
{
    uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_MONOTONIC) % tick >= tick / 2)
        for (int i = 0; i < 200; i++)
            burn_sink += (uint64_t)i;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    uint64_t first = 0, second = 0;
    tick = (uint64_t)(atof(arguments[2]) * 1e3);
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(arguments[1]) * 1e9);
    while (clock_ns(CLOCK_MONOTONIC) < end) {
        first += first_half();
        second += second_half();
    }
    printf("%lu %lu\n", (unsigned long)first, (unsigned long)second);
    return 0;
}
