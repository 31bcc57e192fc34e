/* shares WORKERS ROUNDS SETS: a computation under minicilk with known shares of overhead and
 * idleness, however the system schedules it.
 *
 * A set calls every context of the list below once. In each round SETS sets run in one procedure,
 * while WORKERS - 1 workers are idle (alone), then in WORKERS / 2 procedures at once (half), then in
 * WORKERS (full). The threads of a phase begin and end it together, so the number of working workers
 * is constant during it.
 *
 * Prints, for every phase and context, the CPU time of user code and of tagged code (the parallel
 * overhead), by the threads' own clocks in ns; "waiting" is the user code in which a phase's
 * threads wait for each other, and let the sampler catch up. */
#include "tests/tools/working-yield.h"

#include <inttypes.h>
#include <minicilk.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

struct amounts {
    _Atomic int64_t user, overhead; /* ns */
};

INLINE int64_t now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static _Thread_local volatile uint64_t sink;
static _Thread_local void *volatile kept;
static _Thread_local char from[1 << 16], to[1 << 16];
static volatile size_t copied = sizeof from; /* not known to the compiler */

INLINE void copy_bytes(void)
{
    memcpy(to, from, copied);
}

/* Uses `ns` of the thread's CPU time, or a little more. */
INLINE void burn(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;)
        for (int i = 0; i < 500; i++)
            sink = sink * 31 + 7;
}

INLINE void copy(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;)
        copy_bytes();
}

INLINE void account(struct amounts *amounts, int64_t user, int64_t overhead)
{
    amounts->user += user;
    amounts->overhead += overhead;
}

#include "shares-runtime.h"

/* -------- the contexts: in each, user code and then overhead -------- */

enum { INLINED, AROUND, FEW, MANY, LIBRARY, CALLBACK, CONTEXTS };
static const char *const names[] = {"inlined", "around", "few", "many", "library", "callback"};

#define CONTEXT(name, user_code, overhead)                                                         \
    NOINLINE void name(struct amounts *amounts)                                                    \
    {                                                                                              \
        const int64_t begin = now();                                                               \
        user_code;                                                                                 \
        const int64_t middle = now();                                                              \
        overhead;                                                                                  \
        account(amounts, middle - begin, now() - middle);                                          \
    }
CONTEXT(inlined, burn(200000), tagged_burn(100000))
CONTEXT(around, burn(240000), tagged_around(60000))
CONTEXT(few, burn(270000), tagged_routine(30000))
CONTEXT(many, burn(120000), tagged_routine(180000))
CONTEXT(library, copy(150000), (tagged_copy(75000), tagged_allocation(75000)))

NOINLINE void called_back(void)
{
    burn(225000);
}

NOINLINE void callback(struct amounts *amounts)
{
    tagged_caller(75000, called_back, amounts);
    __asm__ volatile(""); /* the call is no jump: this frame stays */
}

NOINLINE void run_sets(struct amounts *amounts, int sets)
{
    for (int i = 0; i < sets; i++) {
        inlined(&amounts[INLINED]);
        around(&amounts[AROUND]);
        few(&amounts[FEW]);
        many(&amounts[MANY]);
        library(&amounts[LIBRARY]);
        callback(&amounts[CALLBACK]);
    }
}

/* -------- the phases -------- */

struct phase {
    struct amounts contexts[CONTEXTS], waiting;
    int threads, sets; /* each thread runs so many sets in a round */
    atomic_int met;    /* how often a thread has come to a meeting */
};

/* If CPU time is sampled by timers, the first sample of a thread after a wait comes at the first tick
 * of the kernel that finds the thread running, and also stands for the time between its waits. After
 * two ticks of the slowest kernels (100 Hz) that sample has come. */
#define CATCH_UP_NS 20000000

/* Returns when all threads of the phase have come here as often as this one, and the sampler has
 * caught up with it. */
NOINLINE void meet(struct phase *phase, int meetings)
{
    const int64_t begin = now();
    atomic_fetch_add(&phase->met, 1);
    while (atomic_load(&phase->met) < meetings * phase->threads)
        working_yield();
    burn(CATCH_UP_NS);
    account(&phase->waiting, now() - begin, 0);
}

NOINLINE void alone(struct phase *phase, int round)
{
    meet(phase, round + 1);
    run_sets(phase->contexts, phase->sets);
    __asm__ volatile(""); /* the call is no jump: this frame stays */
}

CILK_PROC(half, struct phase *phase; int round;);
CILK_BODY(half)
{
    CILK_BEGIN(half);
    meet(f->phase, 2 * f->round + 1);
    run_sets(f->phase->contexts, f->phase->sets);
    meet(f->phase, 2 * f->round + 2);
    CILK_END;
}

CILK_PROC(full, struct phase *phase; int round;);
CILK_BODY(full)
{
    CILK_BEGIN(full);
    meet(f->phase, 2 * f->round + 1);
    run_sets(f->phase->contexts, f->phase->sets);
    meet(f->phase, 2 * f->round + 2);
    CILK_END;
}

enum { ALONE, HALF, FULL, PHASES };

CILK_PROC(rounds, struct phase *phases; int rounds; int round; int i;);
CILK_BODY(rounds)
{
    CILK_BEGIN(rounds);
    for (f->round = 0; f->round < f->rounds; f->round++) {
        alone(&f->phases[ALONE], f->round);
        for (f->i = 0; f->i < f->phases[HALF].threads; f->i++)
            CILK_SPAWN(half, a->phase = &f->phases[HALF]; a->round = f->round);
        CILK_SYNC();
        for (f->i = 0; f->i < f->phases[FULL].threads; f->i++)
            CILK_SPAWN(full, a->phase = &f->phases[FULL]; a->round = f->round);
        CILK_SYNC();
    }
    CILK_END;
}

static void print(const char *phase, const char *context, const struct amounts *amounts)
{
    printf("%s %s %" PRId64 " %" PRId64 "\n", phase, context, amounts->user, amounts->overhead);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    const int workers = atoi(arguments[1]), sets = atoi(arguments[3]);
    static const char *const phase_names[] = {"alone", "half", "full"};
    struct phase phases[PHASES] = {{.threads = 1, .sets = sets},
                                   {.threads = workers / 2, .sets = sets / (workers / 2)},
                                   {.threads = workers, .sets = sets / workers}};
    if (minicilk_init(workers) != 0)
        return 1;
    CILK_RUN(rounds, a->phases = phases; a->rounds = atoi(arguments[2]));
    for (int i = 0; i < PHASES; i++) {
        for (int k = 0; k < CONTEXTS; k++)
            print(phase_names[i], names[k], &phases[i].contexts[k]);
        print(phase_names[i], "waiting", &phases[i].waiting);
    }
    return minicilk_shutdown();
}
