/* A oneTBB program of known critical path: task-path MILLISECONDS, the length of a stage.
 *
 *     main     before | aside(1/2)  waits for the task | after
 *     worker          | task                           |       */
#include "tests/programs/pthread/path-stages.h"

#include <atomic>
#include <cstdlib>
#include <tbb/task_group.h>

static uint64_t length;
static std::atomic<bool> has_begun;

STAGE(before, 1, length)
STAGE(in_task, 1, length)
STAGE(after, 1, length)
STAGE(aside, 0, length / 2)

static void compute_in_task()
{
    has_begun = true;
    in_task();
}

int main(int argc, char **argv)
{
    length = (argc > 1 ? strtoull(argv[1], nullptr, 10) : 200) * 1000000;
    tbb::task_group group;
    before();
    group.run(compute_in_task);
    while (!has_begun) /* until a worker has taken it */
        ;
    aside();
    group.wait();
    after();
    print_stages();
    return 0;
}
