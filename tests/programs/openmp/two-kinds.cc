/* two-kinds SECONDS: two std::threads with regions of their own, created in two functions. All
 * std::threads have the same start routine, one of libstdc++, so only the thread itself tells where
 * its regions belong:
 *
 *     in_loop    main > loads > std::thread > first > region > in_loop
 *     in_task    main > stores > std::thread > second > region > create > task > in_task */
#include <cstdlib>
#include <ctime>
#include <omp.h>
#include <thread>

#ifdef __clang__
#define FUNCTION __attribute__((noinline, disable_tail_calls)) static void
#else
#define FUNCTION __attribute__((noipa)) static void
#endif
#define KEEP asm volatile("") /* no call in front of it is a jump */

static double share; /* seconds that each thread of a team computes */

static double now()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#define WORKER(name)                                                                               \
    FUNCTION name(double seconds)                                                                  \
    {                                                                                              \
        double begin = now();                                                                      \
        do                                                                                         \
            for (volatile int i = 0; i < 1000; i = i + 1)                                          \
                ;                                                                                  \
        while (now() - begin < seconds);                                                           \
    }
WORKER(in_loop)
WORKER(in_task)

FUNCTION first()
{
#pragma omp parallel num_threads(2)
    {
        in_loop(share);
        KEEP;
    }
    KEEP;
}

/* The other thread of the team runs the task: this one waits for that. */
FUNCTION create(volatile int *done)
{
#pragma omp task shared(done)
    {
        in_task(share);
#pragma omp atomic write
        *done = 1;
    }
    int seen = omp_get_num_threads() == 1;
    while (!seen)
#pragma omp atomic read
        seen = *done;
}

FUNCTION second()
{
    volatile int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        create(&done);
        KEEP;
    }
    KEEP;
}

FUNCTION loads()
{
    std::thread thread(first);
    thread.join();
    KEEP;
}

FUNCTION stores()
{
    std::thread thread(second);
    thread.join();
    KEEP;
}

int main(int count, char **arguments)
{
    share = count > 1 ? std::atof(arguments[1]) : 0.02;
    loads();
    stores();
    return 0;
}
