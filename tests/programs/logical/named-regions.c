/* Regions of include/hpctoolkit.h around computations, nested, repeated and wrong. */
#include "include/hpctoolkit.h"
#include "tests/programs/cilk/driver.h"

static volatile long sink;

static void work(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sink += i;
}

CILK_PROC(leaf, long rounds;);

CILK_BODY(leaf)
{
    CILK_BEGIN(leaf);
    HPCTOOLKIT_REGION_START("inside");
    work(f->rounds);
    CILK_END;
}

CILK_PROC(pair, long rounds;);

CILK_BODY(pair)
{
    CILK_BEGIN(pair);
    CILK_SPAWN(leaf, a->rounds = f->rounds);
    CILK_SPAWN(leaf, a->rounds = f->rounds);
    CILK_END;
}

int main(int argc, char **argv)
{
    const long rounds = driver_start(argc, argv, 1000000, 1, INT32_MAX);
    HPCTOOLKIT_REGION_START("all");
    for (int i = 0; i < 2; i++) {
        HPCTOOLKIT_REGION_START("pairs");
        HPCTOOLKIT_REGION_START("pairs");
        CILK_RUN(pair, a->rounds = rounds);
        HPCTOOLKIT_REGION_STOP("pairs");
        HPCTOOLKIT_REGION_STOP("pairs");
        work(rounds);
    }
    HPCTOOLKIT_REGION_STOP("all");
    HPCTOOLKIT_REGION_STOP("none");
    HPCTOOLKIT_REGION_DUMP("all");
    HPCTOOLKIT_REGION_DUMP("pairs");
    HPCTOOLKIT_REGION_DUMP("never");
    HPCTOOLKIT_REGION_START("rest");
    work(rounds);
    return driver_end("regions", rounds, true);
}
