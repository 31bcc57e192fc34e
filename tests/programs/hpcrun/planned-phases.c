/* planned-phases MS: three phases of MS milliseconds of wall time: one thread in `assemble`, four in `solve` while it waits
 * for them, and one that sleeps in `rest`. Prints a line for each: its begin and end by CLOCK_REALTIME, in ns, in which all
 * its threads were certainly there, and the longest time, in ns, for which one of them had no CPU near its ends. */
#include "burn.h"

#define THREADS 4
#define NEAR_NS 5000000u /* what is near an end */

struct worked {
    uint64_t begin, end, stalled;
};

static uint64_t solve_until;

/* Works until the clock says so. */
#define WORK(name)                                                                                                     \
    __attribute__((noinline)) static struct worked name(uint64_t until)                                                \
    {                                                                                                                  \
        struct worked worked = {clock_ns(CLOCK_REALTIME), 0, 0};                                                       \
        for (uint64_t now = worked.begin, last = now; now < until; last = now) {                                       \
            for (int i = 0; i < 1000; i++) /* another number in each, so that compilers don't join them */             \
                burn_sink = burn_sink * 6364136223846793005u + sizeof #name;                                           \
            now = clock_ns(CLOCK_REALTIME);                                                                            \
            bool is_near = now < worked.begin + NEAR_NS || now + NEAR_NS > until;                                      \
            if (is_near && now - last > worked.stalled)                                                                \
                worked.stalled = now - last;                                                                           \
            worked.end = now;                                                                                          \
        }                                                                                                              \
        return worked;                                                                                                 \
    }

WORK(assemble)
WORK(solve)

static void *run(void *worked)
{
    *(struct worked *)worked = solve(solve_until);
    return NULL;
}

__attribute__((noinline)) static struct worked rest(uint64_t ns)
{
    struct timespec all = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    struct worked worked = {clock_ns(CLOCK_REALTIME), 0, 0};
    nanosleep(&all, NULL);
    worked.end = clock_ns(CLOCK_REALTIME);
    return worked;
}

static void print(struct worked worked)
{
    printf("%lu %lu %lu\n", (unsigned long)worked.begin, (unsigned long)worked.end, (unsigned long)worked.stalled);
}

int main(int count, char **arguments)
{
    uint64_t ns = count > 1 ? (uint64_t)(atof(arguments[1]) * 1e6) : 1000000000u;
    pthread_t threads[THREADS];
    struct worked first = assemble(clock_ns(CLOCK_REALTIME) + ns), all = {0, UINT64_MAX, 0}, each[THREADS];
    solve_until = clock_ns(CLOCK_REALTIME) + ns;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, &each[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all.begin = each[i].begin > all.begin ? each[i].begin : all.begin;
        all.end = each[i].end < all.end ? each[i].end : all.end;
        all.stalled = each[i].stalled > all.stalled ? each[i].stalled : all.stalled;
    }
    struct worked last = rest(ns);
    print(first);
    print(all);
    print(last);
    return 0;
}
