/* control MS: burns MS of CPU time in silent, switches sampling on, burns MS in measured, switches
 * it off, burns MS in silent again. Prints for each whether sampling was active and the ns burned;
 * then the ns from before it was switched on until it was off again. */
#include "burn.h"
#include "include/hpctoolkit.h"

static int active(void)
{
    return hpctoolkit_sampling_is_active ? hpctoolkit_sampling_is_active() : -1;
}

__attribute__((noinline)) static void silent(uint64_t ns)
{
    uint64_t burned = burn(ns);
    printf("%d %lu\n", active(), (unsigned long)burned);
}

__attribute__((noinline)) static void measured(uint64_t ns)
{
    uint64_t burned = burn(ns);
    printf("%d %lu\n", active(), (unsigned long)burned);
}

int main(int count, char **arguments)
{
    uint64_t ns = count == 2 ? (uint64_t)(atof(arguments[1]) * 1e6) : 0;
    silent(ns);
    uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    HPCTOOLKIT_START();
    measured(ns);
    HPCTOOLKIT_STOP();
    uint64_t counted = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    silent(ns);
    printf("%lu\n", (unsigned long)counted);
    return 0;
}
