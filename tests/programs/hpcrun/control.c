/* control MS: burns MS of CPU time in silent, switches sampling on, burns MS in measured, switches
 * it off, burns MS in silent_again; says whether sampling was active in each. */
#include "burn.h"
#include "include/hpctoolkit.h"

#include <stdio.h>
#include <stdlib.h>

static int active(void)
{
    return hpctoolkit_sampling_is_active ? hpctoolkit_sampling_is_active() : -1;
}

__attribute__((noinline)) static void silent(uint64_t ns)
{
    burn(ns);
    printf("%d\n", active());
}

__attribute__((noinline)) static void measured(uint64_t ns)
{
    burn(ns);
    printf("%d\n", active());
}

int main(int count, char **arguments)
{
    uint64_t ns = count == 2 ? (uint64_t)(atof(arguments[1]) * 1e6) : 0;
    silent(ns);
    HPCTOOLKIT_START();
    measured(ns);
    HPCTOOLKIT_STOP();
    silent(ns);
    return 0;
}
