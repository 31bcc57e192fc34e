/* Sums a triangle by rows. The static schedule gives one of two threads three times as much work as the other.
 *     gcc -O2 -g -fopenmp triangle.c -o triangle -lm; OMP_NUM_THREADS=2 ./triangle */
#include <math.h>
#include <stdio.h>

#define ROWS 12000

static double triangle(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column <= row; column++)
            sum += sin(row + column);
    return sum;
}

int main(void)
{
    printf("%g\n", triangle());
    return 0;
}
