/* The last rank has 3 times the rows of the others, and all add up their sums after each step.
 * Usage: unequal_ranks [STEPS] */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

static double step(int rows)
{
    double sum = 0;
    for (int row = 0; row < rows; row++)
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
        sum += step(rank == ranks - 1 ? 6000 : 2000);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* MARK wait */
    }
    MPI_Finalize();
    return all == 0;
}
