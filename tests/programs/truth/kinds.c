/* kinds SECONDS: spends known shares of its time in code that is tagged as parallel overhead, over and
 * over for SECONDS of CPU time.
 *
 * All work is links of one dependency chain, as in truth.c. Each procedure ends in another way, because
 * compilers merge equal procedures. In a round of 100 parts of work:
 *
 *   50 in the procedure user
 *   10 in the procedure task, which a tagged procedure calls: user code all the same
 *   20 in an inlined function that is tagged "spawn"
 *   10 in lines of one_round that are tagged "sync"
 *    6 in a procedure that is tagged "steal", of which 2 in calls from a "scheduler"
 *    4 in a procedure that is tagged without a kind */
#include "rounds.h"

#include <stdint.h>
#include <stdlib.h>

/* Has no line of its own, so that it is part of the line where it stands. */
#define CHAIN(x, links)                                                                            \
    for (int i = 0; i < (links); i++) {                                                            \
        (x) = (x)*6364136223846793005u + 1442695040888963407u;                                     \
        __asm__ volatile("" : "+r"(x));                                                            \
    }

static volatile uint64_t sink;

__attribute__((noinline)) static void user(int parts)
{
    uint64_t x = sink;
    CHAIN(x, parts * part)
    sink = x + 1;
}

__attribute__((noinline)) static void task(int parts)
{
    uint64_t x = sink;
    CHAIN(x, parts * part)
    sink = x + 2;
}

#line 100 "hpctoolkit:parallel-overhead:spawn"
static inline __attribute__((always_inline)) void spawn(int parts)
{
    uint64_t x = sink;
    CHAIN(x, parts * part)
    sink = x + 3;
}

#line 200 "hpctoolkit:parallel-overhead:steal"
__attribute__((noinline)) static void steal(int parts)
{
    uint64_t x = sink;
    CHAIN(x, parts * part)
    sink = x + 4;
}

#line 300 "hpctoolkit:parallel-overhead:scheduler"
__attribute__((noinline)) static void schedule(void)
{
    steal(2);
    task(10);
    sink++;
}

#line 400 "hpctoolkit:parallel-overhead"
__attribute__((noinline)) static void untold(int parts)
{
    uint64_t x = sink;
    CHAIN(x, parts * part)
    sink = x + 5;
}

#line 75 "kinds.c"
__attribute__((noinline)) static void one_round(void)
{
    user(50);
    spawn(20);
    schedule();
    uint64_t x = sink;
#line 500 "hpctoolkit:parallel-overhead:sync"
    CHAIN(x, 10 * part)
#line 84 "kinds.c"
    sink = x;
    steal(4);
    untold(4);
}

int main(int count, char **arguments)
{
    double seconds = count > 1 ? atof(arguments[1]) : 1;
    while (one_more_round(seconds))
        one_round();
    return 0;
}
