/* limits_left THREADS: with so many threads, which work for a moment and then wait, counts what the
 * user's limits leave: how many signals can be queued, and how many descriptors opened. Prints both,
 * and the limit of descriptors. */
#include "burn.h"

#include <sys/resource.h>

static pthread_barrier_t have_worked, are_counted;

static void *work(void *argument)
{
    burn(3000000);
    pthread_barrier_wait(&have_worked);
    pthread_barrier_wait(&are_counted);
    return argument;
}

static int count_signals(void)
{
    const union sigval nothing = {.sival_int = 0};
    int count = 0;
    while (count < 100000 && sigqueue(getpid(), SIGRTMIN + 1, nothing) == 0)
        count++;
    return count;
}

static int count_descriptors(void)
{
    int count = 0;
    while (dup(STDIN_FILENO) >= 0)
        count++;
    return count;
}

int main(int count, char **arguments)
{
    int threads = atoi(arguments[count - 1]);
    sigset_t set; /* in all threads */
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_init(&have_worked, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&are_counted, NULL, (unsigned)threads + 1);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL) != 0)
            return 1;
    pthread_barrier_wait(&have_worked);
    int signals = count_signals(), descriptors = count_descriptors();
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    pthread_barrier_wait(&are_counted);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%d %d %ld\n", signals, descriptors, (long)limit.rlim_cur);
    return 0;
}
