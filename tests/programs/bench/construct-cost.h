/* What a construct costs: CPU time of the calling thread for one execution, in nanoseconds.
 *
 *     COST("barrier", 20000, barrier());     prints "barrier 243.1": the least of ROUNDS rounds, each of
 *                                            20000 executions
 *
 * The least, since a busy machine can only add to a round. The first round warms up and is not counted.
 * For C and C++. */
#ifndef TESTS_CONSTRUCT_COST_H
#define TESTS_CONSTRUCT_COST_H

#include <stdio.h>
#include <time.h>

#define COST_ROUNDS 7

static inline double cost_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* `many`: a statement with `executions` executions. */
#define COST_OF_MANY(name, executions, many)                                                       \
    do {                                                                                           \
        double cost_least = 0;                                                                     \
        for (int cost_round = 0; cost_round <= COST_ROUNDS; cost_round++) {                        \
            double cost_begin = cost_now();                                                        \
            many;                                                                                  \
            double cost = (cost_now() - cost_begin) / (executions);                                \
            if (cost_round == 1 || (cost_round > 1 && cost < cost_least))                          \
                cost_least = cost;                                                                 \
        }                                                                                          \
        printf("%s %.2f\n", name, cost_least);                                                     \
    } while (0)

#define COST(name, executions, one)                                                                \
    COST_OF_MANY(                                                                                  \
        name, executions, for (int cost_i = 0; cost_i < (executions); cost_i++) { one; })

#endif
