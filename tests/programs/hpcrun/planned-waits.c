/* planned-waits TURNS: two threads take turns. Whose turn it is burns 4 ms in `work`, while the other one waits in
 * `wait_for_turn` and the initial thread sleeps in `doze`. Prints the times of all threads in these, ns: CPU time in
 * `work`, wall time in the others. */
#include "burn.h"

#include <time.h>
#include <unistd.h>

enum { TURN_NS = 4000000, DOZE_US = 7000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn, turns;
static _Atomic uint64_t worked, waited;

__attribute__((noinline)) static void work(void)
{
    uint64_t took = burn(TURN_NS);
    worked += took;
}

__attribute__((noinline)) static void wait_for_turn(long parity)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    while (turn < turns && turn % 2 != parity)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    waited += clock_ns(CLOCK_MONOTONIC) - began;
}

static void end_turn(void)
{
    pthread_mutex_lock(&lock);
    turn++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *run(void *parity)
{
    for (wait_for_turn((long)parity); turn < turns; wait_for_turn((long)parity)) {
        work();
        end_turn();
    }
    return NULL;
}

__attribute__((noinline)) static uint64_t doze(void)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    usleep(DOZE_US);
    return clock_ns(CLOCK_MONOTONIC) - began;
}

int main(int count, char **arguments)
{
    pthread_t threads[2];
    uint64_t slept = 0;
    turns = count > 1 ? atol(arguments[1]) : 0;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (bool is_done = false; !is_done;) {
        slept += doze();
        pthread_mutex_lock(&lock);
        is_done = turn >= turns;
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %lu %lu\n", (unsigned long)worked, (unsigned long)waited, (unsigned long)slept);
}
