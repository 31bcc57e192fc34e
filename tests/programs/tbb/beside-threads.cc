/* beside-threads: of four plain threads, one works (in_plain), while another one waits for its lock; two
 * of OpenMP's threads work (in_team) and three of oneTBB's (in_tbb). The functions run only while that
 * holds. Prints the agents' counts of working threads meanwhile. */
#include "runtimes-together.h"

#include <condition_variable>
#include <mutex>
#include <semaphore.h>

extern "C" int plain_threads_that_work(void);
extern "C" int threads_that_wait_for(const pthread_mutex_t *lock);

enum { PLAIN = 1, OPENMP = 2, TBB = 3 };

WORKER(in_plain)
WORKER(in_team)
WORKER(in_tbb)

static std::atomic<bool> held;
static std::mutex lock;

static int all_that_work()
{
    return PLAIN + OPENMP + TBB;
}

static bool is_settled()
{
    return plain_threads_that_work() == PLAIN && openmp_threads_that_work() == OPENMP &&
           threads_that_work() == TBB && threads_that_wait_for(lock.native_handle()) == 1;
}

static void say_counts()
{
    printf("plain %d openmp %d tbb %d\n", plain_threads_that_work(), openmp_threads_that_work(),
           threads_that_work());
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

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    sem_init(&permits, 0, 0);
    std::thread threads[] = {std::thread(attend_in_tbb, (int)TBB, in_tbb), std::thread(hold_lock),
                             std::thread(want_lock), std::thread(want_change),
                             std::thread(want_permit)};
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int i = 0; i < OPENMP; i++)
        attend(in_team, i == 0);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
