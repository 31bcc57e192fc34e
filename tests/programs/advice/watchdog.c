/* One thread computes, another one sleeps on purpose: nothing is gained without the sleep.
 * Usage: watchdog [ROUNDS] */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long total;

static void *watchdog(void *argument)
{
    for (;;)
        usleep(20000);
    return argument;
}

static __attribute__((noinline)) void compute(long rounds)
{
    for (long k = 0; k < rounds * 1000000; k++) /* MARK loop */
        total += k;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, watchdog, NULL);
    compute(argc > 1 ? atol(argv[1]) : 200);
    return 0;
}
