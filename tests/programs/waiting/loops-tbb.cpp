/* loops-tbb THREADS ROUNDS MS: in each round a parallel loop of THREADS iterations of MS of CPU
 * time each, which begin together, so that each thread has one; then the main thread uses MS alone.
 * Prints, besides the ledger, the wall time for which it was alone: "serial NS".
 * With MS 0: ROUNDS loops of many small iterations, in one thread. */
#include "tests/tools/working-yield.h"
#include "wait-ledger.h"

#include <atomic>
#include <cstdlib>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

static std::atomic<int> threads_seen;

static struct account *own_account()
{
    static thread_local int number = threads_seen++;
    return account_of(number);
}

/* An iteration, from the time when a thread takes it: it goes on when all of its round have begun.
 * */
static void iterate(std::atomic<int> *begun, int all, std::uint64_t ns)
{
    struct account *own = own_account();
    struct clocks begin = clocks_now();
    ++*begun;
    while (*begun < all)
        working_yield();
    burn(ns);
    clocks_add(&own->body, begin);
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
    tbb::task_arena arena(threads);
    struct clocks alone = {0, 0};
    if (ns == 0)
        small_iterations(rounds);
    for (int i = 0; i < rounds && ns; i++) {
        std::atomic<int> begun = 0;
        arena.execute([&] {
            tbb::parallel_for(
                0, threads, [&](int) { iterate(&begun, threads, ns); }, tbb::simple_partitioner());
        });
        struct clocks begin = clocks_now();
        burn(ns);
        clocks_add(&alone, begin);
    }
    print_ledger();
    std::printf("serial %llu\n", (unsigned long long)alone.wall);
    return 0;
}
