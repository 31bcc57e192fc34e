/* With LIBRARY: a library whose destructor has the first parallel region of the process. It is not linked to libgomp.
 * Otherwise: a program that is linked to both. The library's constructor must not run again. */
#ifdef LIBRARY
#include <stdio.h>

static int begins;

__attribute__((constructor)) static void begin(void)
{
    begins++;
}

__attribute__((destructor)) static void end(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
    printf("begins: %d, sum: %d\n", begins, sum);
    fflush(stdout);
}
#else
int main(void)
{
    return 0;
}
#endif
