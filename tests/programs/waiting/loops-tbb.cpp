/* loops-tbb THREADS ROUNDS MS: in each round a parallel loop whose iteration i uses (i + 1) * MS of
 * CPU time. With MS 0: ROUNDS loops of many small iterations, in one thread. */
#include "wait-ledger.h"

#include <atomic>
#include <cstdlib>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

static std::atomic<int> threads_seen;

static struct account *own_account()
{
    static thread_local int number = threads_seen++;
    return account_of(number);
}

__attribute__((noinline)) static void small_iterations(int rounds)
{
    static volatile long sums[4096];
    for (int i = 0; i < rounds; i++)
        tbb::parallel_for(
            0, 4096, [](int k) { sums[k] = sums[k] + k; }, tbb::simple_partitioner());
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int threads = std::atoi(arguments[1]), rounds = std::atoi(arguments[2]);
    std::uint64_t ns = std::strtoull(arguments[3], nullptr, 10) * 1000000;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    if (ns == 0)
        small_iterations(rounds);
    for (int i = 0; i < rounds && ns; i++)
        tbb::parallel_for(
            0, threads, [&](int k) { body(own_account(), std::uint64_t(k + 1) * ns); },
            tbb::simple_partitioner());
    print_ledger();
    return 0;
}
