/* The main thread prepares for most of the time, then it shares the rest of the work with another.
 * Usage: serial_phase [ROUNDS] */
#include <pthread.h>
#include <stdlib.h>

static volatile long total;
static long rounds = 60;

static __attribute__((noinline)) void prepare(void)
{
    long sum = 0;
    for (long k = 0; k < 8 * rounds * 1000000; k++) /* MARK serial */
        sum += k ^ (sum << 1);
    total = sum;
}

static void *solve(void *argument)
{
    long sum = 0;
    for (long k = 0; k < rounds * 1000000; k++) /* MARK parallel */
        sum += k ^ (sum << 1);
    total = sum;
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1)
        rounds = atol(argv[1]);
    prepare();
    pthread_create(&thread, NULL, solve, NULL);
    solve(NULL);
    pthread_join(thread, NULL);
    return 0;
}
