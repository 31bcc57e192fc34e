/* spans WORKERS SHAPE MS [exec]: a computation with known work and span, then an exec that fails. It
 * records when each strand ran and the CPU time that it used, and prints at its end
 *     span NS                           the longest chain of strands that wait for each other
 *     piece PROCEDURE BEGIN END CPU     a piece of a strand of PROCEDURE; nanoseconds, wall clock
 *
 *   SHAPE    strands, of MS of CPU time each                       work     span
 *   phases   20 in a row (first), then 20 that may all run         40       21
 *            at once (wide)
 *   chain    20 in a row (first), beside them 10 (wide)            30       20
 *   tree     a node is a strand (first); then its halves, of       40       ledger
 *            a fifth and four fifths of what is left, may run
 *            at once; less than two strands are one leaf (wide) */
#include "tests/programs/hpcrun/burn.h"

#include <minicilk.h>
#include <stdatomic.h>

enum { IN_A_ROW = 20, SIDE = 10, ALL = 40, MOST_PIECES = 100000 };
#define PIECE_NS 1000000

static struct piece {
    const char *procedure;
    uint64_t begin, end, cpu;
} pieces[MOST_PIECES];
static atomic_uint n_pieces;

static uint64_t strand_ns;

/* A strand that should use `ns` of CPU time; notes each of its pieces and returns the time used. A
 * piece begins where the one before it ends, by both clocks: on a busy machine the kernel takes the
 * CPU away where the CPU clock is read, and what that costs is time of the strand. */
static inline uint64_t run_strand(const char *procedure, uint64_t ns)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), cpu_at_begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t cpu = cpu_at_begin;
    while (cpu - cpu_at_begin < ns) {
        unsigned n = atomic_fetch_add(&n_pieces, 1);
        if (n >= MOST_PIECES)
            abort();
        uint64_t last = cpu;
        cpu = burn_from(last, PIECE_NS);
        uint64_t end = clock_ns(CLOCK_MONOTONIC);
        pieces[n] = (struct piece){procedure, begin, end, cpu - last};
        begin = end;
    }
    return cpu - cpu_at_begin;
}

__attribute__((noinline)) static uint64_t first(uint64_t ns)
{
    return run_strand("first", ns);
}

__attribute__((noinline)) static uint64_t wide(uint64_t ns)
{
    return run_strand("wide", ns);
}

static uint64_t longest(const uint64_t *spans, int n)
{
    uint64_t most = 0;
    for (int i = 0; i < n; i++)
        most = spans[i] > most ? spans[i] : most;
    return most;
}

CILK_PROC(strand, uint64_t *span;);
CILK_BODY(strand)
{
    CILK_BEGIN(strand);
    *f->span = wide(strand_ns);
    CILK_END;
}

/* `count` strands that may all run at once. */
CILK_PROC(crowd, uint64_t *span; int n; int i; uint64_t spans[ALL];);
CILK_BODY(crowd)
{
    CILK_BEGIN(crowd);
    for (f->i = 0; f->i < f->n; f->i++)
        CILK_SPAWN(strand, a->span = &f->spans[f->i]);
    CILK_SYNC();
    *f->span = longest(f->spans, f->n);
    CILK_END;
}

/* Strands one behind the other. */
CILK_PROC(row, uint64_t *span;);
CILK_BODY(row)
{
    CILK_BEGIN(row);
    *f->span = 0;
    for (int i = 0; i < IN_A_ROW; i++)
        *f->span += first(strand_ns);
    CILK_END;
}

CILK_PROC(phases, uint64_t *span; uint64_t spans[2];);
CILK_BODY(phases)
{
    CILK_BEGIN(phases);
    CILK_SPAWN(row, a->span = &f->spans[0]);
    CILK_SYNC();
    CILK_SPAWN(crowd, a->span = &f->spans[1]; a->n = IN_A_ROW);
    CILK_SYNC();
    *f->span = f->spans[0] + f->spans[1];
    CILK_END;
}

CILK_PROC(chain, uint64_t *span; uint64_t spans[2];);
CILK_BODY(chain)
{
    CILK_BEGIN(chain);
    CILK_SPAWN(row, a->span = &f->spans[0]);
    CILK_SPAWN(crowd, a->span = &f->spans[1]; a->n = SIDE);
    CILK_SYNC();
    *f->span = longest(f->spans, 2);
    CILK_END;
}

CILK_PROC(tree, uint64_t *span; uint64_t ns; uint64_t own; uint64_t spans[2];);
CILK_BODY(tree)
{
    CILK_BEGIN(tree);
    if (f->ns < 2 * strand_ns) {
        *f->span = wide(f->ns);
        CILK_RETURN;
    }
    f->own = first(strand_ns);
    f->ns -= strand_ns;
    CILK_SPAWN(tree, a->span = &f->spans[0]; a->ns = f->ns / 5);
    CILK_SPAWN(tree, a->span = &f->spans[1]; a->ns = f->ns - f->ns / 5);
    CILK_SYNC();
    *f->span = f->own + longest(f->spans, 2);
    CILK_END;
}

/* An argument may have 128 KiB. */
static bool exec_fails(void)
{
    static char long_argument[200000];
    memset(long_argument, 'x', sizeof long_argument - 1);
    execl("/bin/true", "true", long_argument, (char *)NULL);
    return errno == E2BIG;
}

int main(int count, char **arguments)
{
    if (count != 4 && count != 5)
        return 2;
    const char *shape = arguments[2];
    uint64_t span = 0;
    strand_ns = strtoull(arguments[3], NULL, 10) * 1000000;
    if (minicilk_init(atoi(arguments[1])) != 0)
        return 1;
    if (strcmp(shape, "phases") == 0)
        CILK_RUN(phases, a->span = &span);
    else if (strcmp(shape, "chain") == 0)
        CILK_RUN(chain, a->span = &span);
    else if (strcmp(shape, "tree") == 0)
        CILK_RUN(tree, a->span = &span; a->ns = ALL * strand_ns);
    else
        return 2;
    if (count == 5 && !exec_fails())
        return 1;
    printf("span %llu\n", (unsigned long long)span);
    for (unsigned i = 0; i < atomic_load(&n_pieces); i++)
        printf("piece %s %llu %llu %llu\n", pieces[i].procedure,
               (unsigned long long)pieces[i].begin, (unsigned long long)pieces[i].end,
               (unsigned long long)pieces[i].cpu);
    return minicilk_shutdown();
}
