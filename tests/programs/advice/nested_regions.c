/* num_threads makes at most 4 threads live at the same time, but many one after the other.
 * Usage: nested_regions [TIMES] */
#include <omp.h>
#include <stdlib.h>

static volatile double sink;

static void work(long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (double)i * 0.5;
    sink = sum;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 20;
    omp_set_max_active_levels(2);
    for (int k = 0; k < times; k++) {
#pragma omp parallel num_threads(2)
        {
            work(200000);
#pragma omp parallel num_threads(2)
            work(1000000);
        }
    }
    return 0;
}
