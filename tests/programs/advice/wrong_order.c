/* The loops of sweep are in the wrong order: each step of the inner one is a cache line of its own. The threads are busy.
 * Usage: wrong_order [SWEEPS] */
#include <stdlib.h>

#define N 1500

static double from[N][N], to[N][N];

static void sweep(void)
{
#pragma omp parallel for
    for (int column = 1; column < N - 1; column++) /* MARK columns */
        for (int row = 1; row < N - 1; row++)      /* MARK rows */
            to[row][column] = 0.25 * (from[row - 1][column] + from[row + 1][column] + from[row][column - 1] +
                                      from[row][column + 1]); /* MARK end */
}

int main(int argc, char **argv)
{
    for (int k = argc > 1 ? atoi(argv[1]) : 20; k > 0; k--)
        sweep();
    return to[1][1] != 0;
}
