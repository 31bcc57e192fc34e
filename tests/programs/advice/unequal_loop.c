/* A parallel loop whose static schedule gives the first thread nearly all of the work.
 * Usage: unequal_loop [ROUNDS] */
#include <stdlib.h>

static volatile long total;

static void item(long cost)
{
    long sum = 0;
    for (long k = 0; k < cost; k++) /* MARK work */
        sum += k ^ (sum << 1);
    total = sum;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static) /* MARK loop */
        for (int i = 0; i < 64; i++)      /* MARK items */
            item(i < 16 ? 1000000 : 20000);
    }
    return 0;
}
