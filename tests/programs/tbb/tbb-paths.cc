/* tbb-paths SECONDS THREADS: work in algorithms and tasks of oneTBB, at call paths that are known.
 *
 * Each worker function is called from one path only, and computes for a share of the time. Calls of
 * TBB are in brackets:
 *
 *     in_first      main > first > [parallel_for] > in_first
 *     in_second     main > second > helper > [parallel_for] > in_second
 *     in_nested     main > nested > [parallel_for] > middle > [parallel_for] > in_nested
 *     in_sum        main > sum > [parallel_reduce] > in_sum
 *     in_left, in_right     main > both > [parallel_invoke] > ...
 *     leaf_D        main > forest > branch > grow > [run] > branch > grow > [run] ... > leaf_D, with
 *                   D times "branch > grow > [run]": both return before the tasks run
 *     in_stage_S    main > stages > [parallel_pipeline] > in_stage_S
 *     in_node_N     main > nodes > [try_put] > in_node_N: node 1 sends to node 2
 *     in_arena      main > in_other_arena > [execute] > inside > [parallel_for] > in_arena
 *     in_queue      main > queue > [enqueue] > in_queue
 *     in_waiting    main > waiting > [run_and_wait] > in_waiting
 *     in_later      main > outer > [parallel_for] > leave > [run] > in_later: a task that runs when
 *                   the loop has ended
 *     in_standard   main > standard > [std::for_each] > in_standard: the C++ library's parallel algorithm
 *     in_thread     thread_main > [parallel_for] > in_thread: in a std::thread */
#include "lib/opaque.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <execution>
#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <thread>

#define FUNCTION OPAQUE static void
#define KEEP     asm volatile("") /* no call in front of it is a jump */

static double unit; /* seconds */

static double now()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Computes for a time on the thread's CPU clock. */
static inline void compute(double units)
{
    double begin = now();
    do
        for (volatile int i = 0; i < 1000; i = i + 1)
            ;
    while (now() - begin < units * unit);
}

#define WORKER(name)                                                                               \
    FUNCTION name(double units)                                                                    \
    {                                                                                              \
        compute(units);                                                                            \
    }
WORKER(in_first)
WORKER(in_second)
WORKER(in_nested)
WORKER(in_sum)
WORKER(in_left)
WORKER(in_right)
WORKER(leaf_1)
WORKER(leaf_2)
WORKER(leaf_3)
WORKER(in_stage_1)
WORKER(in_stage_2)
WORKER(in_stage_3)
WORKER(in_node_1)
WORKER(in_node_2)
WORKER(in_arena)
WORKER(in_queue)
WORKER(in_waiting)
WORKER(in_later)
WORKER(in_standard)
WORKER(in_thread)

/* -------- algorithms -------- */

FUNCTION first()
{
    tbb::parallel_for(0, 8, [](int) { in_first(5); });
    KEEP;
}

FUNCTION helper()
{
    tbb::parallel_for(
        tbb::blocked_range<int>(0, 8, 1),
        [](const tbb::blocked_range<int> &range) {
            for (int i = range.begin(); i < range.end(); i++)
                in_second(5);
            KEEP;
        },
        tbb::simple_partitioner());
    KEEP;
}

FUNCTION second()
{
    helper();
    KEEP;
}

FUNCTION middle()
{
    tbb::parallel_for(0, 4, [](int) { in_nested(3); });
    KEEP;
}

FUNCTION nested()
{
    tbb::parallel_for(0, 4, [](int) {
        middle();
        KEEP;
    });
    KEEP;
}

FUNCTION sum()
{
    double total = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 8), 0.0,
        [](const tbb::blocked_range<int> &range, double part) {
            for (int i = range.begin(); i < range.end(); i++)
                in_sum(5);
            return part + (double)range.size();
        },
        [](double a, double b) { return a + b; });
    if (total != 8)
        abort();
}

FUNCTION both()
{
    tbb::parallel_invoke([] { in_left(20); }, [] { in_right(20); });
    KEEP;
}

/* -------- tasks -------- */

FUNCTION branch(tbb::task_group *group, int depth);

FUNCTION grow(tbb::task_group *group, int depth)
{
    static void (*const leaf[])(double) = {nullptr, leaf_1, leaf_2, leaf_3};
    for (int i = 0; i < 2; i++)
        group->run([=] {
            leaf[depth](16 >> depth);
            if (depth < 3)
                branch(group, depth + 1);
            KEEP;
        });
}

FUNCTION branch(tbb::task_group *group, int depth)
{
    grow(group, depth);
    KEEP;
}

FUNCTION forest()
{
    tbb::task_group group;
    for (int i = 0; i < 2; i++)
        branch(&group, 1);
    group.wait();
}

FUNCTION waiting()
{
    tbb::task_group group;
    group.run_and_wait([] {
        in_waiting(20);
        KEEP;
    });
}

FUNCTION leave(tbb::task_group *group)
{
    group->run([] {
        in_later(20);
        KEEP;
    });
    KEEP;
}

FUNCTION outer()
{
    tbb::task_group group;
    tbb::parallel_for(0, 2, [&](int) {
        leave(&group);
        KEEP;
    });
    group.wait();
}

FUNCTION queue()
{
    tbb::task_arena arena;
    std::atomic<bool> done{false};
    arena.enqueue([&] {
        in_queue(20);
        done = true;
    });
    while (!done)
        std::this_thread::yield();
}

/* -------- arenas, pipelines, graphs, threads -------- */

FUNCTION inside()
{
    tbb::parallel_for(0, 8, [](int) { in_arena(5); });
    KEEP;
}

FUNCTION in_other_arena()
{
    tbb::task_arena arena(2);
    arena.execute([] {
        inside();
        KEEP;
    });
}

FUNCTION stages()
{
    int left = 8;
    tbb::parallel_pipeline(
        4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                       [&](tbb::flow_control &control) {
                                           in_stage_1(2);
                                           if (left-- == 0)
                                               control.stop();
                                           return left;
                                       }) &
               tbb::make_filter<int, int>(tbb::filter_mode::parallel,
                                          [](int i) {
                                              in_stage_2(5);
                                              return i;
                                          }) &
               tbb::make_filter<int, void>(tbb::filter_mode::serial_out_of_order,
                                           [](int) { in_stage_3(2); }));
    KEEP;
}

FUNCTION nodes()
{
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> one(graph, tbb::flow::unlimited, [](int i) {
        in_node_1(5);
        return i;
    });
    tbb::flow::function_node<int, int> two(graph, tbb::flow::serial, [](int i) {
        in_node_2(5);
        return i;
    });
    tbb::flow::make_edge(one, two);
    for (int i = 0; i < 4; i++)
        one.try_put(i);
    graph.wait_for_all();
}

FUNCTION standard()
{
    int numbers[8] = {};
    std::for_each(std::execution::par, numbers, numbers + 8, [](int) { in_standard(5); });
}

FUNCTION thread_main()
{
    tbb::parallel_for(0, 8, [](int) { in_thread(5); });
    KEEP;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    unit = atof(arguments[1]) / 1000;
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                              (size_t)atoi(arguments[2]));
    first();
    second();
    nested();
    sum();
    both();
    forest();
    waiting();
    outer();
    queue();
    in_other_arena();
    stages();
    nodes();
    standard();
    std::thread(thread_main).join();
    return 0;
}
