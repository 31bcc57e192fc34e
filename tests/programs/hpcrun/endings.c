/* endings WHAT: threads that end, or are asked to end, while the process ends.
 *   threads   returns from main while detached threads end; prints the ns that all used
 *   births    returns from main while threads begin, and end at once
 *   signals   another process sends SIGHUP and then many SIGTERMs to it, while threads run
 * Threads use THREAD_MS of CPU time each. */
#include "burn.h"

#include <stdatomic.h>

#define THREADS   8
#define THREAD_MS 10

static pthread_barrier_t barrier;
static _Atomic uint64_t total;

static void *run(void *argument)
{
    total += burn(THREAD_MS * 1000000);
    pthread_barrier_wait(&barrier);
    while (argument)
        burn_unit();
    return NULL;
}

static void create(void *(*function)(void *), void *argument)
{
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &detached, function, argument);
}

static void start(void *argument)
{
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        create(run, argument);
    pthread_barrier_wait(&barrier);
}

static _Atomic int born;

static void *be_born(void *unused)
{
    born++;
    return unused;
}

static void *give_birth(void *unused)
{
    while (born >= 0)
        create(be_born, NULL);
    return unused;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "signals") == 0) {
        start(arguments);
        pid_t target = getpid();
        if (fork() == 0) {
            for (int i = 0; i < 50; i++)
                kill(target, i ? SIGTERM : SIGHUP);
            _exit(0);
        }
        for (;;)
            burn_unit();
    }
    if (count == 2 && strcmp(arguments[1], "births") == 0) {
        create(give_birth, NULL);
        while (born < THREADS)
            burn_unit();
        return 0;
    }
    start(NULL);
    printf("%lu\n", (unsigned long)total);
    return 0;
}
