/* marks N [killed]: the region "outer" around N regions "inner", and one
 * without a name; in another thread, "other". Prints CLOCK_MONOTONIC
 * before and after each begin and end of "outer". */
#include "burn.h"
#include "include/hpctoolkit.h"

#include <signal.h>
#include <unistd.h>

static void *run(void *argument)
{
    HPCTOOLKIT_REGION_START("other");
    burn(10000000);
    return argument; /* without an end */
}

static uint64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int main(int count, char **arguments)
{
    pthread_t other;
    int inner = count > 1 ? atoi(arguments[1]) : 0;
    uint64_t times[4];
    pthread_create(&other, NULL, run, NULL);
    burn(10000000);
    times[0] = now();
    HPCTOOLKIT_REGION_START("outer");
    times[1] = now();
    for (int i = 0; i < inner; i++) {
        HPCTOOLKIT_REGION_START("inner");
        HPCTOOLKIT_REGION_STOP("inner");
    }
    HPCTOOLKIT_REGION_START(NULL);
    HPCTOOLKIT_REGION_STOP(NULL);
    burn(10000000);
    times[2] = now();
    HPCTOOLKIT_REGION_STOP("outer");
    times[3] = now();
    pthread_join(other, NULL);
    for (int i = 0; i < 4; i++)
        printf("%lu\n", (unsigned long)times[i]);
    fflush(stdout);
    if (count > 2)
        kill(getpid(), SIGKILL);
    return 0;
}
