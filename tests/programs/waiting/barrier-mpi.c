/* barrier-mpi ROUNDS MS: in each round rank i uses (i + 1) * MS of CPU time, then waits for the
 * others in a barrier. */
#include "wait-ledger.h"

#include <mpi.h>

__attribute__((noinline)) static void wait_for_others(struct account *account)
{
    struct clocks begin = clocks_now();
    MPI_Barrier(MPI_COMM_WORLD);
    clocks_add(&account->waiting, begin);
}

int main(int count, char **arguments)
{
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = atoi(arguments[1]);
    uint64_t ns = strtoull(arguments[2], NULL, 10) * 1000000;
    struct account *volatile own = account_of(0); /* of unknown value: no clones of functions */
    for (int i = 0; i < rounds; i++) {
        body(own, (uint64_t)(rank + 1) * ns);
        wait_for_others(own);
    }
    MPI_Finalize();
    print_ledger();
    return 0;
}
