/* truth SECONDS: spends its time in known shares, over and over for SECONDS of CPU time.
 *
 * All work is links of one dependency chain, a multiplication and an addition each. A link takes the
 * same time everywhere, whatever code surrounds it. In a round of 100 parts of work:
 *
 *   10 in the procedure unit, called 1, 2, 3 and 4 times by one, two, three, four    10 parts
 *   30 in the procedure loops: 10 in its first loop, 20 in its second               30 parts
 *   40 in an inlined function: 10 where early calls it, 30 where late does          40 parts
 *   20 in the procedure lines: 5 on one line of a loop, 15 on another               20 parts
 *
 * The tests find lines by the words after MARK. */
#include "rounds.h"

#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

static inline __attribute__((always_inline)) uint64_t chain(uint64_t x, int links)
{
    for (int i = 0; i < links; i++) {                        /* MARK chain loop */
        x = x * 6364136223846793005u + 1442695040888963407u; /* MARK chain link */
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

__attribute__((noinline)) static void unit(void)
{
    sink = chain(sink, part);
}

__attribute__((noinline)) static void one(void)
{
    unit(); /* MARK one calls unit */
    sink++;
}

__attribute__((noinline)) static void two(void)
{
    for (int i = 0; i < 2; i++)
        unit(); /* MARK two calls unit */
    sink++;
}

__attribute__((noinline)) static void three(void)
{
    for (int i = 0; i < 3; i++)
        unit(); /* MARK three calls unit */
    sink++;
}

__attribute__((noinline)) static void four(void)
{
    for (int i = 0; i < 4; i++)
        unit(); /* MARK four calls unit */
    sink++;
}

__attribute__((noinline)) static void loops(void)
{
    uint64_t x = sink;
    for (int i = 0; i < 10 * part; i++) { /* MARK first loop */
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    sink = x;
    for (int i = 0; i < 20 * part; i++) { /* MARK second loop */
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    sink = x;
}

__attribute__((noinline)) static void early(void)
{
    sink = chain(sink, 10 * part); /* MARK early inlines chain */
}

__attribute__((noinline)) static void late(void)
{
    sink = chain(sink, 30 * part); /* MARK late inlines chain */
}

/* Four links on one line against twelve on another, unrolled by hand in one loop. Register
 * operands: processors fold additions of small constants away. */
#define LINK "imul %1, %0\n\tadd %2, %0\n\t"
#define LINKS(n)                                                                                   \
    __asm__ volatile(".rept " #n "\n\t" LINK ".endr" : "+r"(x) : "r"(factor), "r"(term))

__attribute__((noinline)) static void lines(void)
{
    uint64_t x = sink, factor = 6364136223846793005u, term = 1442695040888963407u;
    for (int i = 0; i < 20 * part / 16; i++) { /* MARK lines loop */
        LINKS(4);                              /* MARK short line */
        LINKS(12);                             /* MARK long line */
    }
    sink = x;
}

int main(int count, char **arguments)
{
    double seconds = count == 2 ? atof(arguments[1]) : 1;
    while (one_more_round(seconds)) {
        one();
        two();
        three();
        four();
        loops();
        early();
        late();
        lines();
    }
    return 0;
}
