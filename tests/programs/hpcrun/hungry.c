/* hungry COMPUTING SLEEPING MS [WORKING]: so many threads that compute, that take naps, and that work for 0.1 ms and
 * sleep for 2 ms in turns, on one CPU, which they share, for MS milliseconds. Prints a line for each thread: compute, nap or
 * work; its tid; the ns on the wall clock, on its CPU clock, and without a CPU by the kernel's account; and how late
 * its naps ended in all, or how long it worked, by its CPU clock, ns. */
#include "burn.h"

#include <inttypes.h>
#include <sched.h>
#include <sys/syscall.h>

#define MOST   64
#define NAP_NS 50000000u
#define WORK_NS 100000u
#define REST_NS 2000000u

struct account {
    uint64_t wall, cpu, ready;
};

static uint64_t length;
static pthread_barrier_t start;
static char lines[MOST][200];

static uint64_t ready_ns(void)
{
    char path[64];
    uint64_t cpu, ready = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &cpu, &ready) != 2)
        abort();
    fclose(file);
    return ready;
}

static struct account now(void)
{
    return (struct account){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID),
                            ready_ns()};
}

static void report(char *line, const char *what, struct account begin, uint64_t own)
{
    struct account end = now();
    snprintf(line, sizeof lines[0], "%s %ld %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
             what, syscall(SYS_gettid), end.wall - begin.wall, end.cpu - begin.cpu,
             end.ready - begin.ready, own);
}

static void *compute(void *line)
{
    pthread_barrier_wait(&start);
    struct account begin = now();
    while (clock_ns(CLOCK_MONOTONIC) < begin.wall + length)
        burn_unit();
    report(line, "compute", begin, 0);
    return NULL;
}

static void *take_naps(void *line)
{
    pthread_barrier_wait(&start);
    struct account begin = now();
    uint64_t late = 0;
    for (uint64_t due = begin.wall + NAP_NS; due < begin.wall + length; due += NAP_NS) {
        struct timespec at = {.tv_sec = (time_t)(due / 1000000000u),
                              .tv_nsec = (long)(due % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
            ;
        late += clock_ns(CLOCK_MONOTONIC) - due;
    }
    report(line, "nap", begin, late);
    return NULL;
}

static uint64_t work(void)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    burn(WORK_NS);
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void *work_in_turns(void *line)
{
    pthread_barrier_wait(&start);
    struct account begin = now();
    const struct timespec rest = {.tv_nsec = REST_NS};
    uint64_t worked = 0;
    while (clock_ns(CLOCK_MONOTONIC) < begin.wall + length) {
        worked += work();
        nanosleep(&rest, NULL);
    }
    report(line, "work", begin, worked);
    return NULL;
}

static void share_one_cpu(void)
{
    cpu_set_t usable, one;
    int cpu = 0;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        abort();
    while (!CPU_ISSET(cpu, &usable))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        abort();
}

int main(int count, char **arguments)
{
    if (count != 4 && count != 5)
        return 2;
    int computing = atoi(arguments[1]), naps_end = computing + atoi(arguments[2]);
    int all = naps_end + (count == 5 ? atoi(arguments[4]) : 0);
    pthread_t threads[MOST];
    length = (uint64_t)atoi(arguments[3]) * 1000000;
    if (all < 1 || all > MOST || pthread_barrier_init(&start, NULL, (unsigned)all) != 0)
        return 2;
    share_one_cpu();
    for (int i = 0; i < all; i++)
        if (pthread_create(&threads[i], NULL, i < computing ? compute : i < naps_end ? take_naps : work_in_turns,
                           lines[i]) != 0)
            return 1;
    for (int i = 0; i < all; i++) {
        pthread_join(threads[i], NULL);
        fputs(lines[i], stdout);
    }
    return 0;
}
