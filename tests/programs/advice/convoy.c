/* A convoy: 32 threads that hold the same mutex for nearly all of their work.
 * Usage: convoy [ROUNDS] */
#include <pthread.h>
#include <stdlib.h>

#define THREADS 32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long total;
static int rounds = 100;

static void *worker(void *argument)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock); /* MARK wait */
        for (int k = 0; k < 200000; k++)
            total += k;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
