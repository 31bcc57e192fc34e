/* openmp-costs: what the constructs of OpenMP cost on one thread (construct-cost.h), with bodies that do
 * next to nothing. Run it with OMP_NUM_THREADS=1. */
#include "tests/programs/bench/construct-cost.h"

#include <omp.h>

static volatile long done;

__attribute__((noinline)) static void region(void)
{
#pragma omp parallel
    done++;
}

static void barriers(int count)
{
#pragma omp parallel
    for (int i = 0; i < count; i++) {
#pragma omp barrier
    }
}

static void chunks(int count)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; i++)
        done++;
}

static void ordered(int count)
{
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int i = 0; i < count; i++) {
#pragma omp ordered
        done++;
    }
}

__attribute__((noinline)) static void critical(void)
{
#pragma omp critical
    done++;
}

__attribute__((noinline)) static void named_critical(void)
{
#pragma omp critical(name)
    done++;
}

static void tasks(int count)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count; i++) {
#pragma omp task
        done++;
    }
}

static void waits(int count)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count; i++) {
#pragma omp taskwait
    }
}

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void fib_in_region(int n)
{
#pragma omp parallel
#pragma omp single
    done += fib(n);
}

int main(void)
{
    enum { COUNT = 20000, FIB = 20, FIB_TASKS = 21890 };
    static omp_lock_t lock;
    omp_init_lock(&lock);
    COST("region", COUNT, region());
    COST_OF_MANY("barrier", COUNT, barriers(COUNT));
    COST_OF_MANY("chunk", COUNT, chunks(COUNT));
    COST_OF_MANY("ordered", COUNT, ordered(COUNT));
    COST("critical", COUNT, critical());
    COST("critical(name)", COUNT, named_critical());
    COST("lock", COUNT, (omp_set_lock(&lock), done++, omp_unset_lock(&lock)));
    COST_OF_MANY("task", COUNT, tasks(COUNT));
    COST_OF_MANY("fib", FIB_TASKS, fib_in_region(FIB));
    COST_OF_MANY("taskwait", COUNT, waits(COUNT));
    return 0;
}
