// Several runtimes of four threads each, some of which work at the same time while the others wait.
// Each that works calls attend; one of them, which is the first, has the agents count them then.
#ifndef TESTS_PROGRAMS_TBB_RUNTIMES_TOGETHER_H
#define TESTS_PROGRAMS_TBB_RUNTIMES_TOGETHER_H

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

enum { THREADS = 4 };

// Of the program.
static int all_that_work();
static bool is_settled();
static void say_counts();

static void compute()
{
    timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000);
}

#define WORKER(name)                                                                               \
    OPAQUE static void name()                                                                      \
    {                                                                                              \
        compute();                                                                                 \
        asm volatile("");                                                                          \
    }

// All threads that work meet before they compute and after it. Before that, all of oneTBB's meet: it
// creates threads when there is work for them.
static std::atomic<int> created, come, left;
static std::atomic<bool> settled;

static void meet(std::atomic<int> &count, int all)
{
    for (count++; count < all;)
        working_yield();
}

// The last threads that wait are on their way: at most a minute.
static void settle()
{
    for (time_t begin = time(nullptr); time(nullptr) - begin < 60 && !is_settled();)
        working_yield();
    say_counts();
    settled = true;
}

static void attend(void (*worker)(), bool is_first)
{
    meet(come, all_that_work());
    if (is_first)
        settle();
    while (!settled)
        working_yield();
    worker();
    meet(left, all_that_work());
}

static void attend_in_tbb(int n, void (*worker)())
{
    tbb::task_arena arena(THREADS);
    arena.execute([=] {
        tbb::parallel_for(
            0, (int)THREADS, [](int) { meet(created, THREADS); }, tbb::simple_partitioner());
        tbb::parallel_for(
            0, n, [=](int) { attend(worker, false); }, tbb::simple_partitioner());
    });
}

#endif
