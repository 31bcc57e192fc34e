/* A thread computes, the main thread reads /dev/zero, which never blocks. On one CPU they share it.
 * Usage: one_cpu [ROUNDS] */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile double sink;
static char buffer[1 << 20];
static long rounds = 100;

static void *compute(void *argument)
{
    for (long k = 0; k < rounds * 1000000; k++) /* MARK loop */
        sink += (double)k;
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int zero = open("/dev/zero", O_RDONLY);
    if (argc > 1)
        rounds = atol(argv[1]);
    pthread_create(&thread, NULL, compute, NULL);
    for (long k = 0; k < 40 * rounds; k++)
        if (read(zero, buffer, sizeof buffer) < 0) /* MARK read */
            return 1;
    pthread_join(thread, NULL);
    return 0;
}
