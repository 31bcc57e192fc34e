/* usage: wakeups WORKERS ROUNDS
 *
 * Checks that idle workers sleep, wake when there is work, and are counted exactly.
 *
 * Each round
 *   1. computes serially for a while, so that the other workers fall asleep at different stages;
 *      n_w must be 1;
 *   2. gives every worker a piece of a loop in which all of them meet: if a wake-up were lost, the
 *      round would never end. When they meet, n_w must be the number of workers.
 * Before that, it works serially until the others sleep. It prints how many slept at last, and what CPU
 * time they took until then. */
#include <dirent.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/sleeping-threads.h"
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

static bool has_membarrier(void)
{
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
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

enum { MOST_WORKERS = 256 };

/* For each other thread how often it has slept before it sleeps now; -1: it does not sleep. Returns their
 * number. */
static int look_at_sleepers(long times[MOST_WORKERS])
{
    DIR *folder = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *entry; n < MOST_WORKERS && (entry = readdir(folder)) != NULL;)
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != gettid()) {
            if (!thread_sleeps(entry->d_name, &times[n]))
                times[n] = -1;
            n++;
        }
    closedir(folder);
    return n;
}

/* Serial work by one worker until the others sleep: all but `awake` sleep during a whole step of it.
 * Workers that never sleep use AWAKE seconds of CPU time before. */
enum { AWAKE = 3 };
static const double STEP = 0.02; /* seconds */

CILK_STATIC_PROC(serial, int workers; int awake; double *others; int *asleep;);

CILK_BODY(serial)
{
    CILK_BEGIN(serial);
    const double all = seconds(CLOCK_PROCESS_CPUTIME_ID), own = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (*f->asleep < f->workers - 1 - f->awake && *f->others < AWAKE) {
        long before[MOST_WORKERS], behind[MOST_WORKERS];
        const int n = look_at_sleepers(before);
        compute(STEP);
        *f->asleep = 0;
        const bool are_the_same = look_at_sleepers(behind) == n;
        for (int i = 0; i < n && are_the_same; i++)
            *f->asleep += before[i] >= 0 && before[i] == behind[i];
        *f->others = seconds(CLOCK_PROCESS_CPUTIME_ID) - all - (seconds(CLOCK_THREAD_CPUTIME_ID) - own);
    }
    CILK_END;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: wakeups WORKERS ROUNDS\n");
        return 2;
    }
    const unsigned workers = (unsigned)atoi(argv[1]);
    if (workers > MOST_WORKERS)
        return 2;
    struct meeting meeting = {.workers = workers};
    pthread_barrier_init(&meeting.all_here, NULL, workers);
    pthread_barrier_init(&meeting.all_counted, NULL, workers);
    if (minicilk_init((int)workers) != 0)
        return 1;
    double others = 0;
    int asleep = 0;
    /* Without membarrier one worker looks for work again and again. */
    const int awake = MINICILK_IN_MODE(MINICILK_NO_MEMBARRIER) || !has_membarrier();
    CILK_RUN(serial, a->workers = (int)workers; a->awake = awake; a->others = &others; a->asleep = &asleep);
    CILK_RUN(rounds, a->count = atol(argv[2]); a->meeting = &meeting);
    minicilk_shutdown();
    printf("wrong %ld asleep %d others %.6f\n", atomic_load(&wrong), asleep, others);
    return atomic_load(&wrong) != 0 || asleep < (int)workers - 1 - awake;
}
