/* A oneTBB program of known critical path: tbb-path MILLISECONDS, the length of a stage. Two threads, `one` and
 * `other`, whichever these are:
 *
 *     one      before | longest          | aside(1/2)       | outer | source           | target | in_round         | after
 *     other           | aside(1/2)       | inner            |       | aside(1/2)       |        | aside_in_round   |
 *
 * The rounds are 20 short loops, in which threads that wait spin. The other thread of a round may be late, for want of a
 * CPU: then it is on the path. */
#include "tests/programs/pthread/path-stages.h"
#include "tests/tools/working-yield.h"

#include <atomic>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

enum { ROUNDS = 20 };

ON_PATH(before)
ON_PATH(longest)
ON_PATH(inner)
ON_PATH(outer)
ON_PATH(source)
ON_PATH(target)
ON_PATH(after)
ASIDE(aside, 2)

/* Of the two threads of a round. */
static bool ends_last()
{
    static std::atomic<unsigned> ended{0};
    return ended++ % 2 == 1;
}

STAGE(in_round, ends_last(), length / 10)
STAGE(aside_in_round, ends_last(), length / 20)

/* Where two bodies meet, they are in two threads. */
class meeting {
    std::atomic<int> come{0};

  public:
    void attend()
    {
        come++;
        while (come < 2)
            working_yield();
    }
};

template <typename Long, typename Short> static void both(Long longer, Short shorter)
{
    meeting m;
    tbb::parallel_for(
        0, 2,
        [&](int i) {
            m.attend();
            i ? longer() : shorter();
        },
        tbb::simple_partitioner());
}

/* The longer task waits for a group of its own. */
static void nested_groups()
{
    meeting m, in_group;
    tbb::task_group group;
    group.run([&] {
        m.attend();
        tbb::task_group inner_group;
        inner_group.run([&] {
            in_group.attend();
            inner();
        });
        in_group.attend();
        aside();
        inner_group.wait();
        outer();
    });
    m.attend();
    group.wait();
}

/* A message that two nodes hand on while another one is on its way. */
static void graph()
{
    using node = tbb::flow::function_node<int, int>;
    meeting m;
    tbb::flow::graph all;
    node first(all, tbb::flow::unlimited, [&](int i) {
        m.attend();
        source();
        return i;
    });
    node second(all, tbb::flow::unlimited, [&](int i) {
        target();
        return i;
    });
    node beside(all, tbb::flow::unlimited, [&](int i) {
        m.attend();
        aside();
        return i;
    });
    tbb::flow::make_edge(first, second);
    first.try_put(1);
    beside.try_put(1);
    all.wait_for_all();
}

int main(int argc, char **argv)
{
    read_length(argc, argv);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 2);
    tbb::task_arena(2).execute([] {
        both([] {}, [] {}); /* creates the other thread */
        before();
        both(longest, aside);
        nested_groups();
        graph();
        for (int i = 0; i < ROUNDS; i++)
            both(in_round, aside_in_round);
        after();
    });
    print_stages();
    return 0;
}
