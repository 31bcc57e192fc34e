/* The last rank computes 3 times as long as the others, 22.5 ms of CPU time a step, whatever the speed of its CPU; all add up
 * their sums after each step. Usage: unequal_ranks [STEPS] */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double step(double seconds)
{
    double sum = 0, end = cpu_seconds() + seconds;
    for (int row = 0; cpu_seconds() < end; row++)
        for (int k = 1; k < 400; k++) /* MARK loop */
            sum += sin(row * 1e-3 + k) / k;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 20;
    double sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < steps; k++) {
        sum += step(rank == ranks - 1 ? 0.0225 : 0.0075);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* MARK wait */
    }
    MPI_Finalize();
    return all == 0;
}
