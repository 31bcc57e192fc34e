/* crowd THREADS MS: creates THREADS threads, which wait until all of them exist, and then for MS more.
 * Prints the number of threads, and the sum of the ns for which each existed, by the wall
 * clock. */
#include "burn.h"

#include <stdatomic.h>

static pthread_barrier_t all_there;
static struct timespec wait;
static _Atomic uint64_t there;

static void *member(void *unused)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    pthread_barrier_wait(&all_there);
    nanosleep(&wait, NULL);
    there += clock_ns(CLOCK_MONOTONIC) - begin;
    return unused;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    long ms = argc > 2 ? atol(argv[2]) : 0;
    pthread_t *id = calloc(count, sizeof *id);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_there, NULL, count + 1);
    wait = (struct timespec){ms / 1000, ms % 1000 * 1000000};
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&id[i], &small, member, NULL) != 0)
            return perror("pthread_create"), 1;
    pthread_barrier_wait(&all_there);
    for (unsigned i = 0; i < count; i++)
        pthread_join(id[i], NULL);
    printf("%u %lu\n", count, (unsigned long)there);
    free(id);
    return 0;
}
