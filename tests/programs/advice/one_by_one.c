/* Threads one after another: never more than two are alive. Usage: one_by_one [THREADS] */
#include <pthread.h>
#include <stdlib.h>

static volatile double sink;

static void *job(void *argument)
{
    for (long k = 0; k < 4000000; k++) /* MARK loop */
        sink += (double)k;
    return argument;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 60;
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, job, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
