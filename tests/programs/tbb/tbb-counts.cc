/* tbb-counts: phases with a known number of threads that work, beside the agent's count. Prints
 *     NAME EXPECTED AGENT
 * where all that work wait for each other, so the number stays; and
 *     settled NAME EXPECTED AGENT
 * where the other threads are about to stop: as soon as the numbers are equal, or after a minute. Its
 * last line has the results of what it computed. in_serial and in_one compute while one thread
 * works. */
#include "lib/opaque.h"
#include "tests/tools/working-yield.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <thread>

extern "C" int threads_that_work(void);

enum { THREADS = 4 };

static void say(const char *name, int expected)
{
    printf("%s %d %d\n", name, expected, threads_that_work());
}

static void settle(const char *name, int expected)
{
    for (time_t begin = time(nullptr);
         threads_that_work() != expected && time(nullptr) - begin < 60;)
        working_yield();
    int count = threads_that_work();
    printf("settled %s %d %d\n", name, expected, count);
    if (count != expected) {
        fflush(stdout);
        _Exit(1); // libtbb crashes if one of its threads calls exit()
    }
}

OPAQUE static void compute()
{
    timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000);
}

OPAQUE static void in_serial()
{
    compute();
    asm volatile("");
}

OPAQUE static void in_one()
{
    compute();
    asm volatile("");
}

/* Bodies that meet: the last one of them goes on when the others have left. */
struct meeting {
    std::atomic<int> come{0}, looked{0};

    void attend(const char *name, bool is_last, int all = THREADS, int others = 0)
    {
        come++;
        while (come < all)
            working_yield();
        if (is_last)
            say(name, all + others);
        looked += is_last;
        while (!looked)
            working_yield();
        if (is_last)
            settle(name, 1 + others);
    }
};

static void in_loop()
{
    meeting m;
    tbb::parallel_for(
        0, (int)THREADS,
        [&](int i) {
            m.attend("loop", i == 0);
            if (i == 0)
                in_one();
        },
        tbb::simple_partitioner());
}

static void in_group()
{
    meeting m;
    tbb::task_group group;
    for (int i = 1; i < THREADS; i++)
        group.run([&, i] { m.attend("group", i == 1); });
    m.attend("group", false);
    group.wait();
}

static void in_nested_loops()
{
    meeting m;
    tbb::parallel_for(
        0, 2,
        [&](int i) {
            tbb::parallel_for(
                0, 2, [&](int k) { m.attend("nested", i + k == 0); }, tbb::simple_partitioner());
        },
        tbb::simple_partitioner());
}

/* The caller of TBB is another thread; the initial one works beside. */
static void in_thread()
{
    std::atomic<bool> done{false};
    std::thread caller([&] {
        meeting m;
        tbb::task_arena arena(THREADS);
        arena.execute([&] {
            tbb::parallel_for(
                0, (int)THREADS, [&](int i) { m.attend("thread", i == 0, THREADS, 1); },
                tbb::simple_partitioner());
        });
        done = true;
    });
    while (!done)
        working_yield();
    caller.join();
}

/* -------- results -------- */

static int thrown()
{
    std::atomic<int> caught{0};
    for (int round = 0; round < 50; round++)
        try {
            tbb::parallel_for(0, 100, [](int i) {
                if (i == 50)
                    throw std::runtime_error("fifty");
            });
        } catch (const std::runtime_error &) {
            caught++;
        }
    tbb::task_group group;
    for (int i = 0; i < 20; i++)
        group.run([i] {
            if (i % 2)
                throw i;
        });
    try {
        group.wait();
    } catch (int) {
        caught++;
    }
    return caught;
}

static int cancelled()
{
    std::atomic<int> ended{0};
    for (int round = 0; round < 20; round++) {
        tbb::task_group group;
        for (int i = 0; i < 200; i++)
            group.run([&] { group.cancel(); });
        ended += group.wait() == tbb::canceled;
    }
    return ended;
}

/* Tasks that give up their thread, and go on in any other one. */
static int suspended()
{
    std::atomic<int> resumed{0};
    tbb::task_group others;
    tbb::parallel_for(
        0, 100,
        [&](int) {
            tbb::task::suspend([&](tbb::task::suspend_point point) {
                others.run([point] { tbb::task::resume(point); });
            });
            resumed++;
        },
        tbb::simple_partitioner());
    others.wait();
    return resumed;
}

static int fib(int n)
{
    int a = 0, b = 0;
    if (n < 2)
        return n;
    tbb::task_group group;
    group.run([&] { a = fib(n - 1); });
    b = fib(n - 2);
    group.wait();
    return a + b;
}

static int sorted()
{
    std::vector<int> numbers(100000);
    for (size_t i = 0; i < numbers.size(); i++)
        numbers[i] = (int)(i * 7919 % 100003);
    tbb::parallel_sort(numbers.begin(), numbers.end());
    return std::is_sorted(numbers.begin(), numbers.end());
}

static int chained()
{
    std::atomic<int> count{0};
    tbb::task_group group;
    struct step {
        std::atomic<int> *count;
        tbb::task_group *group;
        void operator()() const
        {
            if (++*count < 20000)
                group->run(*this);
        }
    };
    group.run(step{&count, &group});
    group.wait();
    return count;
}

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    tbb::task_arena arena(THREADS);
    arena.execute([] {
        say("callback", 1);
        in_loop();
        settle("after", 1);
        in_serial();
        in_group();
        in_nested_loops();
    });
    in_thread();
    int results[] = {thrown(), cancelled(), suspended(), fib(16), sorted(), chained()};
    settle("end", 1);
    printf("results");
    for (int result : results)
        printf(" %d", result);
    printf("\n");
    return 0;
}
