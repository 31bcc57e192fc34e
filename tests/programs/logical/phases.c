/* phases WORKERS MS: a computation with known idleness: the ratio of idle to working workers is
 * constant during each burning procedure, however the system schedules them.
 *
 *   before       serial, in main, before the computation        WORKERS - 1 : 1
 *   alone        in the computation's root                      WORKERS - 1 : 1
 *   half         in WORKERS / 2 procedures at once              1 : 1
 *   full         in WORKERS procedures at once                  0 : 1
 *
 * Each burns MS of CPU time per thread in it. The procedures of half and full begin together, and
 * end when all have used their time.
 *
 * Prints the wall time of the computation, and of its procedures in all workers together. */
#include "tests/programs/hpcrun/burn.h"
#include "tests/tools/working-yield.h"

#include <minicilk.h>
#include <stdatomic.h>

/* The threads of one phase. */
struct crowd {
    int threads;
    atomic_int arrived, left;
    _Atomic int64_t ns; /* that remain to be used */
};

static _Atomic uint64_t working_ns; /* wall time in procedures */

__attribute__((noinline)) static void wait_for(atomic_int *count, int wanted)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    atomic_fetch_add(count, 1);
    while (atomic_load(count) < wanted)
        working_yield();
    atomic_fetch_add(&working_ns, clock_ns(CLOCK_MONOTONIC) - begin);
}

static volatile int phase; /* keeps the compiler from making one function of all that burn */

/* Inlined: as a last call, it would take the place of its caller in call paths. */
static inline __attribute__((always_inline)) void burn_together(struct crowd *crowd, int number)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    phase = number;
    while (atomic_fetch_sub(&crowd->ns, 1000000) > 0)
        burn(1000000);
    atomic_fetch_add(&working_ns, clock_ns(CLOCK_MONOTONIC) - begin);
}

#define BURNING __attribute__((noinline)) static void

BURNING before(struct crowd *crowd)
{
    burn_together(crowd, 0);
}

BURNING alone(struct crowd *crowd)
{
    burn_together(crowd, 1);
}

BURNING half(struct crowd *crowd)
{
    burn_together(crowd, 2);
}

BURNING full(struct crowd *crowd)
{
    burn_together(crowd, 3);
}

CILK_PROC(half_task, struct crowd *crowd;);
CILK_BODY(half_task)
{
    CILK_BEGIN(half_task);
    wait_for(&f->crowd->arrived, f->crowd->threads);
    half(f->crowd);
    wait_for(&f->crowd->left, f->crowd->threads);
    CILK_END;
}

CILK_PROC(full_task, struct crowd *crowd;);
CILK_BODY(full_task)
{
    CILK_BEGIN(full_task);
    wait_for(&f->crowd->arrived, f->crowd->threads);
    full(f->crowd);
    wait_for(&f->crowd->left, f->crowd->threads);
    CILK_END;
}

CILK_PROC(phases, int workers; struct crowd * crowds; int i;);
CILK_BODY(phases)
{
    CILK_BEGIN(phases);
    alone(&f->crowds[1]);
    for (f->i = 0; f->i < f->workers / 2; f->i++)
        CILK_SPAWN(half_task, a->crowd = &f->crowds[2]);
    CILK_SYNC();
    for (f->i = 0; f->i < f->workers; f->i++)
        CILK_SPAWN(full_task, a->crowd = &f->crowds[3]);
    CILK_SYNC();
    CILK_END;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    int workers = atoi(arguments[1]);
    int64_t ns = atoll(arguments[2]) * 1000000;
    struct crowd crowds[] = {{.threads = 1, .ns = ns},
                             {.threads = 1, .ns = ns},
                             {.threads = workers / 2, .ns = ns * (workers / 2)},
                             {.threads = workers, .ns = ns * workers}};
    if (minicilk_init(workers) != 0)
        return 1;
    before(&crowds[0]);
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    atomic_store(&working_ns, 0);
    CILK_RUN(phases, a->workers = workers; a->crowds = crowds);
    printf("computation %ju procedures %ju\n", (uintmax_t)(clock_ns(CLOCK_MONOTONIC) - begin),
           (uintmax_t)atomic_load(&working_ns));
    return minicilk_shutdown();
}
