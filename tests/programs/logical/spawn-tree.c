/* spawn-tree WORKERS DEPTH MILLIONS: a tree of spawns and calls that records itself.
 *
 * Three procedures spawn each other, from several lines each, with calls, loops and syncs between;
 * DEPTH bounds how deep they nest. Computations follow one another, from two roots in turn, until
 * MILLIONS of units have been grown; their other work is small. Every path of the tree grows
 * at least the same number of units, however often it is taken.
 *
 * Every activation gets its *place* from its caller: the number of the path of calls and spawns
 * that leads to it from main. So the program itself knows the truth about every path.
 * At the end it prints
 *     steals NUMBER                              continuations that went to another worker
 *     place NUMBER PARENT PROCEDURE LINE UNITS   a path: that of PARENT (0: main), and in it, at
 *                                                LINE, a call or spawn of PROCEDURE
 * Two LINEs are not this file's: 1 is where the runtime's parallel loop spawns itself, 2 where it
 * calls its range. */
#include <minicilk.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS = 1024, PLACES = 1 << 16, MOST_DEPTH = 8, PIECES = 3, BRANCH = 1, LINES = 10000 };
enum { LOOP_SPAWN = 1, LOOP_CALL = 2 };

/* -------- the record -------- */

/* A table, hashed by the path. Its key never changes once it is not 0. */
static struct place {
    _Atomic uint64_t key; /* parent, line + 1; 0: free */
    const char *_Atomic procedure;
    _Atomic long units;
} places[PLACES]; /* the first stands for main */

static _Atomic long steals;

/* The place of a procedure that `parent` calls at a line, where it calls nothing else. */
MINICILK_INLINE unsigned place_of(unsigned parent, const char *procedure, unsigned line)
{
    const uint64_t key = (uint64_t)parent * LINES + line + 1;
    for (uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;; i++) {
        struct place *place = &places[1 + i % (PLACES - 1)];
        uint64_t found = atomic_load_explicit(&place->key, memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong(&place->key, &found, key)) {
            atomic_store(&place->procedure, procedure);
            return (unsigned)(place - places);
        }
        if (found == key)
            return (unsigned)(place - places);
    }
}

/* The continuation of a spawn runs on another worker only if it was stolen. */
MINICILK_INLINE void count_steal(const void *before, const void *after)
{
    if (before != after)
        atomic_fetch_add_explicit(&steals, 1, memory_order_relaxed);
}

static long units_grown(void)
{
    long sum = 0;
    for (size_t i = 1; i < PLACES; i++)
        sum += places[i].units;
    return sum;
}

static void print_record(void)
{
    printf("steals %ld\n", steals);
    for (size_t i = 1; i < PLACES; i++) {
        const uint64_t key = places[i].key;
        if (key)
            printf("place %zu %lu %s %lu %ld\n", i, (key - 1) / LINES, places[i].procedure,
                   (key - 1) % LINES, places[i].units);
    }
}

/* -------- plain functions -------- */

#define HERE(procedure) place_of(place, #procedure, __LINE__)

MINICILK_OPAQUE static long grow(unsigned place, long units)
{
    static volatile uint64_t sink;
    uint64_t x = sink;
    for (long i = 0; i < units; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
    atomic_fetch_add_explicit(&places[place].units, units, memory_order_relaxed);
    return units;
}

MINICILK_OPAQUE static long branch(unsigned place, int forks, long units)
{
    long sum = grow(HERE(grow), units);
    if (forks > 0)
        sum += branch(HERE(branch), forks - 1, units);
    return sum + grow(HERE(grow), units);
}

/* -------- procedures -------- */

struct loop {
    unsigned place; /* of what spawns it */
    long units;
};

#define FIELDS                                                                                     \
    unsigned place;                                                                                \
    int depth, i;                                                                                  \
    long units;                                                                                    \
    const void *worker;                                                                            \
    struct loop loop;

CILK_STATIC_PROC(oak, FIELDS);
CILK_STATIC_PROC(elm, FIELDS);
CILK_STATIC_PROC(fir, FIELDS);

#define AT(procedure) place_of(f->place, #procedure, __LINE__)

#define SPAWN(procedure, units_)                                                                   \
    do {                                                                                           \
        f->worker = minicilk_worker;                                                               \
        CILK_SPAWN(procedure, a->place = AT(procedure); a->depth = f->depth - 1;                   \
                   a->units = (units_));                                                           \
        count_steal(f->worker, minicilk_worker);                                                   \
    } while (0)

static struct loop *set_loop(struct loop *loop, unsigned place, long units)
{
    *loop = (struct loop){place, units};
    return loop;
}

/* The place of piece number `piece` of a loop over [0, PIECES) with grain 1: minicilk_for spawns
 * itself for the first half and goes on with the second. */
static unsigned place_of_piece(const struct loop *loop, long piece)
{
    unsigned place = loop->place;
    for (long begin = 0, end = PIECES; end - begin > 1;) {
        const long middle = begin + (end - begin) / 2;
        if (piece < middle) {
            place = place_of(place, "minicilk_for", LOOP_SPAWN);
            end = middle;
        } else {
            begin = middle;
        }
    }
    return place;
}

static void grow_piece(long begin, long end, void *data)
{
    const struct loop *loop = data;
    const unsigned place = place_of(place_of_piece(loop, begin), "grow_piece", LOOP_CALL);
    for (long i = begin; i < end; i++)
        grow(HERE(grow), loop->units);
}

CILK_BODY(oak)
{
    CILK_BEGIN(oak);
    grow(AT(grow), f->units);
    if (f->depth == 0)
        CILK_RETURN;
    SPAWN(elm, f->units);
    for (f->i = 0; f->i < 2; f->i++)
        SPAWN(fir, f->units / 2);
    CILK_SYNC();
    SPAWN(oak, f->units);
    branch(AT(branch), BRANCH, f->units);
    CILK_SYNC();
    CILK_END;
}

/* A loop, and a return that waits. */
CILK_BODY(elm)
{
    CILK_BEGIN(elm);
    grow(AT(grow), f->units);
    if (f->depth == 0)
        CILK_RETURN;
    SPAWN(fir, f->units);
    CILK_FOR(0, PIECES, 1, grow_piece, set_loop(&f->loop, AT(minicilk_for), f->units));
    SPAWN(oak, f->units);
    grow(AT(grow), f->units);
    CILK_END;
}

/* Nothing between its spawns. */
CILK_BODY(fir)
{
    CILK_BEGIN(fir);
    if (f->depth > 0) {
        SPAWN(oak, f->units);
        SPAWN(elm, f->units);
        CILK_SYNC();
    }
    grow(AT(grow), f->units);
    CILK_END;
}

/* -------- computations -------- */

MINICILK_OPAQUE static int plant(unsigned place, int depth)
{
    const int status = CILK_RUN(oak, a->place = HERE(oak); a->depth = depth; a->units = UNITS);
    return status | CILK_RUN(elm, a->place = HERE(elm); a->depth = depth; a->units = UNITS);
}

int main(int count, char **arguments)
{
    if (count != 4 || atoi(arguments[2]) > MOST_DEPTH || minicilk_init(atoi(arguments[1])) != 0)
        return 2;
    const unsigned place = 0;
    const int depth = atoi(arguments[2]);
    const long units = atol(arguments[3]) * 1000000;
    for (long round = 0, rounds = 1; round < rounds; round++) {
        plant(HERE(plant), depth);
        if (round == 0)
            rounds = units / units_grown();
    }
    const int status = minicilk_shutdown();
    print_record();
    return status;
}
