/* beside-threads: four plain threads, of which one works (in_plain), while another one waits for its
 * lock; at the same time two of OpenMP's four threads work (in_team) and three of oneTBB's four
 * (in_tbb), while the others wait. The functions run only while that holds. Prints the agents'
 * counts of working threads meanwhile. */
#include "lib/opaque.h"
#include "tests/tools/working-yield.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <semaphore.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>

extern "C" int plain_threads_that_work(void);
extern "C" int threads_that_wait_for(const pthread_mutex_t *lock);
extern "C" int openmp_threads_that_work(void);
extern "C" int threads_that_work(void);

enum { THREADS = 4, PLAIN = 1, OPENMP = 2, TBB = 3, ALL = PLAIN + OPENMP + TBB };

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
WORKER(in_plain)
WORKER(in_team)
WORKER(in_tbb)

/* All threads that work meet before they compute and after it. Before that, all of oneTBB's meet: it
 * creates threads when there is work for them. */
static std::atomic<int> created, come, left;
static std::atomic<bool> held, settled;
static std::mutex lock;

static void meet(std::atomic<int> &count, int all)
{
    for (count++; count < all;)
        working_yield();
}

static bool is_settled()
{
    return plain_threads_that_work() == PLAIN && openmp_threads_that_work() == OPENMP &&
           threads_that_work() == TBB && threads_that_wait_for(lock.native_handle()) == 1;
}

/* The last threads that wait are on their way: at most a minute. */
static void settle()
{
    for (time_t begin = time(nullptr); time(nullptr) - begin < 60 && !is_settled();)
        working_yield();
    printf("plain %d openmp %d tbb %d\n", plain_threads_that_work(), openmp_threads_that_work(),
           threads_that_work());
    settled = true;
}

static void attend(void (*worker)(), bool is_first)
{
    meet(come, ALL);
    if (is_first)
        settle();
    while (!settled)
        working_yield();
    worker();
    meet(left, ALL);
}

static std::mutex quiet;
static std::condition_variable changed;
static sem_t permits;
static bool is_over;

static void hold_lock()
{
    {
        std::lock_guard<std::mutex> holder(lock);
        held = true;
        attend(in_plain, false);
    }
    std::lock_guard<std::mutex> guard(quiet);
    is_over = true;
    changed.notify_all();
    sem_post(&permits);
}

static void want_lock()
{
    while (!held)
        working_yield();
    lock.lock();
    lock.unlock();
}

static void want_change()
{
    std::unique_lock<std::mutex> guard(quiet);
    changed.wait(guard, [] { return is_over; });
}

static void want_permit()
{
    sem_wait(&permits);
}

static void use_tbb()
{
    tbb::task_arena arena(THREADS);
    arena.execute([] {
        tbb::parallel_for(
            0, (int)THREADS, [](int) { meet(created, THREADS); }, tbb::simple_partitioner());
        tbb::parallel_for(
            0, (int)TBB, [](int) { attend(in_tbb, false); }, tbb::simple_partitioner());
    });
}

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    sem_init(&permits, 0, 0);
    std::thread threads[] = {std::thread(use_tbb), std::thread(hold_lock), std::thread(want_lock),
                             std::thread(want_change), std::thread(want_permit)};
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int i = 0; i < OPENMP; i++)
        attend(in_team, i == 0);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
