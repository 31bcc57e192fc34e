/* three-runtimes: one of OpenMP's threads works (in_openmp), two of oneTBB's (in_tbb) and three of
 * minicilk's (in_cilk). The functions run only while that holds. Prints the agents' counts of OpenMP's
 * and of oneTBB's working threads meanwhile. */
#include "runtimes-together.h"

extern "C" void run_cilk(void (*attend)(void));

enum { OPENMP = 1, TBB = 2, CILK = 3 };

WORKER(in_openmp)
WORKER(in_tbb)
WORKER(in_cilk)

static int all_that_work()
{
    return OPENMP + TBB + CILK;
}

static bool is_settled()
{
    return openmp_threads_that_work() == OPENMP && threads_that_work() == TBB;
}

static void say_counts()
{
    printf("openmp %d tbb %d\n", openmp_threads_that_work(), threads_that_work());
}

static void attend_cilk()
{
    attend(in_cilk, false);
}

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    std::thread tbb_thread(attend_in_tbb, TBB, in_tbb);
    std::thread cilk_thread(run_cilk, attend_cilk);
#pragma omp parallel num_threads(THREADS)
#pragma omp master
    attend(in_openmp, true);
    tbb_thread.join();
    cilk_thread.join();
    return 0;
}
