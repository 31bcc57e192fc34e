/* A parallel loop in a serial one, or the other way round: the same work and span, but one steal for
 * each iteration, or one for all. With 2 iterations of the parallel loop these are the snippets A
 * and B of Cilkview (He, Leiserson, Leiserson, SPAA 2010, Figure 4), with 4 the example of its
 * manual.
 *
 * usage: MINICILK_WORKERS=N nested-loops inner|outer WIDTH COUNT
 *
 * inner: a serial loop of COUNT iterations. In each of them a parallel loop of WIDTH iterations runs.
 * outer: a parallel loop of WIDTH iterations. In each of them a serial loop of COUNT iterations runs.
 * Both print the same sum. The program does hardly anything else, so its work and span are those of
 * the loops. */
#include <string.h>

#include "tests/programs/cilk/driver.h"

enum { MOST = 64 };

static long sums[MOST];

/* The work of the manual's example. */
static long do_work(long k)
{
    long x = 15;
    for (long i = 1; i < 87; i++)
        x = x / i + k % i;
    return x;
}

/* One iteration of the parallel loop, with one round of the serial one. */
static void do_round(long begin, long end, void *data)
{
    const long j = *(const long *)data;
    for (long i = begin; i < end; i++)
        sums[i] += do_work(j * i + i + j);
}

/* The same with all rounds. */
static void do_all_rounds(long begin, long end, void *data)
{
    for (long j = 0; j < *(const long *)data; j++)
        do_round(begin, end, &j);
}

CILK_PROC(inner, long width; long count; long j;);

CILK_BODY(inner)
{
    CILK_BEGIN(inner);
    for (f->j = 0; f->j < f->count; f->j++)
        CILK_FOR(0, f->width, 1, do_round, &f->j);
    CILK_END;
}

CILK_PROC(outer, long width; long count;);

CILK_BODY(outer)
{
    CILK_BEGIN(outer);
    CILK_FOR(0, f->width, 1, do_all_rounds, &f->count);
    CILK_END;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: MINICILK_WORKERS=N nested-loops inner|outer WIDTH COUNT\n");
        return 2;
    }
    const long width = driver_number(argv[0], argv[2], 1, MOST);
    const long count = driver_number(argv[0], argv[3], 0, INT32_MAX);
    if (minicilk_init(0) != 0)
        return 1;
    if (strcmp(argv[1], "inner") == 0)
        CILK_RUN(inner, a->width = width; a->count = count);
    else
        CILK_RUN(outer, a->width = width; a->count = count);
    long sum = 0;
    for (long i = 0; i < width; i++)
        sum += sums[i];
    minicilk_shutdown();
    printf("loops %ld %ld: %ld\n", width, count, sum);
    return 0;
}
