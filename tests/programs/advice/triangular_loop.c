/* A static schedule of a triangular loop: one of two threads has 3 times the work of the other.
 * Usage: triangular_loop [ROWS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) double cell(int row, int column)
{
    return sin(row) * column;
}

static double triangle(int rows)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int row = 0; row < rows; row++) /* MARK rows */
        for (int column = 0; column <= row; column++) /* MARK columns */
            sum += cell(row, column);
    return sum;
}

int main(int argc, char **argv)
{
    printf("%g\n", triangle(argc > 1 ? atoi(argv[1]) : 9000));
}
