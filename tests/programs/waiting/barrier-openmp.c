/* barrier-openmp THREADS ROUNDS MS: in each round thread i uses (i + 1) * MS of CPU time, then
 * waits for the others in a barrier. */
#include "wait-ledger.h"

#include <omp.h>

__attribute__((noinline)) static void wait_for_others(struct account *account)
{
    struct clocks begin = clocks_now();
#pragma omp barrier
    clocks_add(&account->waiting, begin);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int threads = atoi(arguments[1]), rounds = atoi(arguments[2]);
    uint64_t ns = strtoull(arguments[3], NULL, 10) * 1000000;
#pragma omp parallel num_threads(threads)
    {
        int number = omp_get_thread_num();
        for (int i = 0; i < rounds; i++) {
            body(account_of(number), (uint64_t)(number + 1) * ns);
            wait_for_others(&accounts[number]);
        }
    }
    print_ledger();
    return 0;
}
