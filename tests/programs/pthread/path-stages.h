/* Stages of programs of known critical path: functions that compute for a time by the wall clock, and print how long those
 * on the path took. So a stage is longer than planned only if its thread has no CPU at its end. */
#ifndef TESTS_PROGRAMS_PATH_STAGES_H
#define TESTS_PROGRAMS_PATH_STAGES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t length; /* of a stage, in ns: the program's first argument, in ms */

static struct {
    const char *name;
    uint64_t ns;
} stages[64];
static unsigned n_stages;

/* The samples of the clock's code, which is libc's, count for the stage. */
#define STAGE(stage, is_on_path, length)                                                                               \
    static __attribute__((noinline)) void stage(void)                                                                  \
    {                                                                                                                  \
        struct timespec begin, now;                                                                                    \
        uint64_t passed;                                                                                               \
        clock_gettime(CLOCK_MONOTONIC, &begin);                                                                        \
        do {                                                                                                           \
            clock_gettime(CLOCK_MONOTONIC, &now);                                                                      \
            passed = (uint64_t)((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec);               \
        } while (passed < (length));                                                                                   \
        unsigned at = is_on_path ? __atomic_fetch_add(&n_stages, 1, __ATOMIC_RELAXED) : 63;                            \
        stages[at].name = #stage;                                                                                      \
        stages[at].ns = passed;                                                                                        \
    }

#define ON_PATH(stage)      STAGE(stage, 1, length)
#define ASIDE(stage, share) STAGE(stage, 0, length / (share))

static void read_length(int argc, char **argv)
{
    length = (argc > 1 ? strtoull(argv[1], NULL, 10) : 200) * 1000000;
}

static void print_stages(void)
{
    for (unsigned i = 0; i < n_stages; i++)
        printf("%s %llu\n", stages[i].name, (unsigned long long)stages[i].ns);
}

#endif
