/* An OpenMP program of known critical path, over tasks: task-path MILLISECONDS, the length of a stage. Two threads; tasks
 * are executed by whichever takes them, but for the first of each line, which the master leaves to the other thread:
 *
 *     master   before | aside(1/2) | after_wait | aside(1/2) |            | aside(1/2) | after_loop |      | after
 *     other           | in_task    |            | in_group   | descendant | in_loop    |            | last |
 */
#include "tests/programs/pthread/path-stages.h"
#include "tests/tools/working-yield.h"

#include <omp.h>
#include <stdatomic.h>

ON_PATH(before)
ON_PATH(in_task)
ON_PATH(after_wait)
ON_PATH(in_group)
ON_PATH(descendant)
ON_PATH(in_loop)
ON_PATH(after_loop)
ON_PATH(last)
ON_PATH(after)
ASIDE(aside, 2)

static atomic_int begun;

static void wait_until_begun(int number)
{
    while (begun < number)
        working_yield();
}

static void wait_for_task(void)
{
#pragma omp task
    {
        begun = 1;
        in_task();
    }
    wait_until_begun(1);
    aside();
#pragma omp taskwait
    after_wait();
}

static void wait_for_group(void)
{
#pragma omp taskgroup
    {
#pragma omp task
        {
            begun = 2;
            in_group();
#pragma omp task
            descendant();
        }
        wait_until_begun(2);
        aside();
    }
}

/* Each thread has one of the two. */
static void wait_for_loop(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 2; i++) {
        begun++;
        wait_until_begun(4);
        if (omp_get_thread_num() == 1)
            in_loop();
        else
            aside();
    }
    after_loop();
}

static void leave_a_task(void)
{
#pragma omp task
    {
        begun = 5;
        last();
    }
    wait_until_begun(5);
}

int main(int argc, char **argv)
{
    read_length(argc, argv);
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        before();
        wait_for_task();
        wait_for_group();
        wait_for_loop();
        leave_a_task();
    }
    after();
    print_stages();
    return 0;
}
