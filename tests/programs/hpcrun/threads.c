/* threads COUNT MS AT_ONCE: creates COUNT threads in all, at most AT_ONCE at the same time, each
 * uses MS milliseconds of CPU time. Prints the ns that they used on purpose, and the sum of their CPU
 * clocks. */
#include "burn.h"

#include <stdatomic.h>

static _Atomic uint64_t burned, counted;
static uint64_t each;

static void *run(void *argument)
{
    (void)argument;
    burned += burn(each);
    counted += clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int threads = atoi(arguments[1]), at_once = atoi(arguments[3]);
    each = (uint64_t)(atof(arguments[2]) * 1e6);
    pthread_t *id = calloc((size_t)threads, sizeof *id);
    for (int begin = 0; begin < threads; begin += at_once) {
        int end = begin + at_once < threads ? begin + at_once : threads;
        for (int i = begin; i < end; i++)
            pthread_create(&id[i], NULL, run, NULL);
        for (int i = begin; i < end; i++)
            pthread_join(id[i], NULL);
    }
    printf("%lu %lu\n", (unsigned long)burned, (unsigned long)counted);
    free(id);
    return 0;
}
