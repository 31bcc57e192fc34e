/* three-runtimes: each runtime has four threads. At the same time, one of OpenMP's works (in_openmp),
 * two of oneTBB's (in_tbb) and three of minicilk's (in_cilk), while their other threads wait. The
 * functions run only while that holds. Prints the agents' counts of OpenMP's and of oneTBB's working threads meanwhile. */
#include "lib/opaque.h"
#include "tests/tools/working-yield.h"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>

extern "C" int threads_that_work(void);
extern "C" int openmp_threads_that_work(void);
extern "C" void run_cilk(void (*attend)(void));

enum { THREADS = 4, OPENMP = 1, TBB = 2, CILK = 3 };

static void compute()
{
    timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000);
}

#define WORKER(name)                                                                               \
    OPAQUE static void name()                                                      \
    {                                                                                              \
        compute();                                                                                 \
        asm volatile("");                                                                          \
    }
WORKER(in_openmp)
WORKER(in_tbb)
WORKER(in_cilk)

/* All threads that work meet before they compute and after it. Before that, all of oneTBB's meet: it
 * creates threads when there is work for them. */
static std::atomic<int> created, come, left;
static std::atomic<bool> settled;

static void meet(std::atomic<int> &count, int all)
{
    for (count++; count < all;)
        working_yield();
}

/* The last threads that wait are on their way: at most a minute. */
static void settle()
{
    for (time_t begin = time(nullptr); time(nullptr) - begin < 60;) {
        if (openmp_threads_that_work() == OPENMP && threads_that_work() == TBB)
            break;
        working_yield();
    }
    printf("openmp %d tbb %d\n", openmp_threads_that_work(), threads_that_work());
    settled = true;
}

static void attend(void (*worker)(), bool is_first)
{
    meet(come, OPENMP + TBB + CILK);
    if (is_first)
        settle();
    while (!settled)
        working_yield();
    worker();
    meet(left, OPENMP + TBB + CILK);
}

static void attend_cilk()
{
    attend(in_cilk, false);
}

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    std::thread tbb_thread([] {
        tbb::task_arena arena(THREADS);
        arena.execute([] {
            tbb::parallel_for(
                0, (int)THREADS, [](int) { meet(created, THREADS); }, tbb::simple_partitioner());
            tbb::parallel_for(
                0, (int)TBB, [](int) { attend(in_tbb, false); }, tbb::simple_partitioner());
        });
    });
    std::thread cilk_thread([] { run_cilk(attend_cilk); });
#pragma omp parallel num_threads(THREADS)
#pragma omp master
    attend(in_openmp, true);
    tbb_thread.join();
    cilk_thread.join();
    return 0;
}
