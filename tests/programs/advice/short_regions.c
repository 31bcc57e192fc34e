/* Vectors are scaled for many turns, each in a parallel region, after serial code. With few elements a region takes longer
 * to begin and to end than to do its work. The number of turns is such that the work is about the same.
 *
 *     short_regions ELEMENTS SERIAL MICROSECONDS LENGTH
 *
 * ELEMENTS: of a vector; SERIAL: steps of the serial code in a turn; MICROSECONDS: of sleep in a turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 200000

static double vector[MOST];

static __attribute__((noinline)) double serial(double x, int steps)
{
    for (int i = 0; i < steps; i++) /* MARK serial */
        x = sqrt(x + i);
    return x;
}

int main(int argc, char **argv)
{
    int elements = argc > 1 ? atoi(argv[1]) : 200, steps = argc > 2 ? atoi(argv[2]) : 0;
    long sleep = argc > 3 ? atol(argv[3]) : 0, length = argc > 4 ? atol(argv[4]) : 200;
    double sum = 1;
    for (long turn = 0; turn < length * 300000 / (elements + steps); turn++) { /* MARK turns */
        sum = serial(sum, steps);
        if (sleep)
            usleep((useconds_t)sleep);
#pragma omp parallel for
        for (int i = 0; i < elements; i++) /* MARK region */
            vector[i] = sqrt(vector[i] + i + sum);
        sum += vector[0];
    }
    printf("%g\n", sum);
}
