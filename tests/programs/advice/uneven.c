/* Two threads work, one of them for longer. All that the main thread does alone is in work; init, which no other thread
 * calls, is short. Usage: uneven [ROUNDS] */
#include <pthread.h>
#include <stdlib.h>

static volatile double sink;
static long rounds = 40;

static __attribute__((noinline)) void work(long k)
{
    for (k *= 1000000; k > 0; k--) /* MARK work */
        sink += (double)k;
}

static __attribute__((noinline)) void init(long k)
{
    for (k *= 1000000; k > 0; k--)
        sink -= (double)k;
}

static void *worker(void *argument)
{
    work(4 * rounds);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1)
        rounds = atol(argv[1]);
    init(rounds);
    pthread_create(&thread, NULL, worker, NULL);
    work(15 * rounds);
    pthread_join(thread, NULL);
    return 0;
}
