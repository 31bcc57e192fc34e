/* control_thread FIRST SECOND MS: the initial thread uses FIRST ms of CPU time and another one
 * SECOND; then the initial thread switches sampling on and the other one uses MS. Prints the three
 * times in ns. */
#include "burn.h"
#include "include/hpctoolkit.h"

static pthread_barrier_t used, sampling;
static uint64_t ns[3], burned[3];

static void *run(void *argument)
{
    burned[1] = burn(ns[1]);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&sampling);
    burned[2] = burn(ns[2]);
    return argument;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    for (int i = 0; i < 3 && i + 1 < count; i++)
        ns[i] = (uint64_t)(atof(arguments[i + 1]) * 1e6);
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&sampling, NULL, 2);
    pthread_create(&thread, NULL, run, NULL);
    burned[0] = burn(ns[0]);
    pthread_barrier_wait(&used);
    HPCTOOLKIT_START();
    pthread_barrier_wait(&sampling);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        printf("%lu\n", (unsigned long)burned[i]);
    return 0;
}
