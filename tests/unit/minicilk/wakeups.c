/* usage: wakeups WORKERS ROUNDS
 *
 * Checks that idle workers sleep, wake when there is work, and are counted exactly.
 *
 * Each round
 *   1. computes serially for a while, so that the other workers fall asleep at different stages;
 *      n_w must be 1;
 *   2. gives every worker a piece of a loop in which all of them meet: if a wake-up were lost, the
 *      round would never end. When they meet, n_w must be the number of workers.
 * Prints the CPU time of the serial part, and that of all other threads meanwhile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <minicilk.h>

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static _Atomic long wrong;

static void expect_working(unsigned count)
{
    if (atomic_load(&minicilk_introspection.live->n_w) != count)
        atomic_fetch_add(&wrong, 1);
}

struct meeting {
    pthread_barrier_t all_here, all_counted;
    unsigned workers;
};

static void meet(long begin, long end, void *data)
{
    struct meeting *meeting = data;
    for (long i = begin; i < end; i++) {
        pthread_barrier_wait(&meeting->all_here);
        expect_working(meeting->workers);
        pthread_barrier_wait(&meeting->all_counted);
    }
}

static void compute(double how_long)
{
    const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + how_long;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

CILK_STATIC_PROC(rounds, long count; long i; struct meeting * meeting;);

CILK_BODY(rounds)
{
    CILK_BEGIN(rounds);
    for (f->i = 0; f->i < f->count; f->i++) {
        compute(1e-6 * (double)(f->i * 7919 % 400));
        expect_working(1);
        CILK_FOR(0, f->meeting->workers, 1, meet, f->meeting);
    }
    CILK_END;
}

/* A second of serial work by one worker. */
CILK_STATIC_PROC(serial, double *own; double *others;);

CILK_BODY(serial)
{
    CILK_BEGIN(serial);
    const double own = seconds(CLOCK_THREAD_CPUTIME_ID), all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    compute(1);
    *f->own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    *f->others = seconds(CLOCK_PROCESS_CPUTIME_ID) - all - *f->own;
    CILK_END;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: wakeups WORKERS ROUNDS\n");
        return 2;
    }
    const unsigned workers = (unsigned)atoi(argv[1]);
    struct meeting meeting = {.workers = workers};
    pthread_barrier_init(&meeting.all_here, NULL, workers);
    pthread_barrier_init(&meeting.all_counted, NULL, workers);
    if (minicilk_init((int)workers) != 0)
        return 1;
    double own = 0, others = 0;
    CILK_RUN(serial, a->own = &own; a->others = &others);
    CILK_RUN(rounds, a->count = atol(argv[2]); a->meeting = &meeting);
    minicilk_shutdown();
    printf("wrong %ld serial %.6f others %.6f\n", atomic_load(&wrong), own, others);
    return atomic_load(&wrong) != 0;
}
