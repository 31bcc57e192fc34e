/* tbb-costs: what tasks of oneTBB cost on one thread (construct-cost.h). */
#include "tests/programs/bench/construct-cost.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

static volatile long done;

static void add_one()
{
    long now = done;
    done = now + 1;
}

static long fib(int n)
{
    if (n < 2)
        return n;
    long a, b;
    tbb::task_group group;
    group.run([&] { a = fib(n - 1); });
    b = fib(n - 2);
    group.wait();
    return a + b;
}

static void iterate(int count)
{
    tbb::parallel_for(
        tbb::blocked_range<int>(0, count, 1), [](const tbb::blocked_range<int> &) { add_one(); },
        tbb::simple_partitioner());
}

static void spawn(int count)
{
    tbb::task_group group;
    for (int i = 0; i < count; i++) {
        group.run([] { add_one(); });
        if (i % 16 == 15)
            group.wait();
    }
    group.wait();
}

int main()
{
    enum { COUNT = 20000, MANY = 1 << 15, FIB = 20, FIB_TASKS = 10945 };
    tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    COST("parallel_for", COUNT, iterate(2));
    COST_OF_MANY("iteration", MANY, iterate(MANY));
    COST_OF_MANY("task", COUNT, spawn(COUNT));
    COST_OF_MANY("fib", FIB_TASKS, done = fib(FIB));
    return 0;
}
