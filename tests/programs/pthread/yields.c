/* A thread that waits in loops which yield the CPU, and one that yields it between pieces of work. */
#include "tests/programs/hpcrun/burn.h"

#include <sched.h>
#include <threads.h>

enum { WAIT_NS = 200000000, WORK_NS = 1000000, PIECES = 200 };

#define WAIT_BY(name, yield)                                                                       \
    __attribute__((noinline)) static void name(void)                                               \
    {                                                                                              \
        for (uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);                                   \
             clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < WAIT_NS;)                                 \
            for (int i = 0; i < 1000; i++)                                                         \
                yield();                                                                           \
    }
WAIT_BY(wait_by_sched_yield, sched_yield)
WAIT_BY(wait_by_thrd_yield, thrd_yield)

__attribute__((noinline)) static void work_and_yield(void)
{
    for (int i = 0; i < PIECES; i++) {
        burn(WORK_NS);
        sched_yield();
    }
}

static void *run(void *unused)
{
    wait_by_sched_yield();
    wait_by_thrd_yield();
    work_and_yield();
    return unused;
}

int main(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
