/* task-parts SECONDS: tasks that the runtime executes in parts, and tasks that it splits. Each worker
 * function computes for that long at each call, and is called from one path only:
 *
 *     part_1, part_2, part_3         main > yields > region > create_yielding > task > part_N
 *     before_wait, between, after_wait
 *                                    main > waits > region > create_waiting > task > before_wait
 *     in_child                       ... > create_waiting > task > create_child > task > in_child
 *     leaf                           main > grows > region > grow > task > grow > task > leaf
 *     iteration                      main > splits > region > from_loop > taskloop > iteration: with
 *                                    more tasks than libomp creates at once, so that tasks of its own
 *                                    create them
 *     in_region                      main > behind > region > nested > region > in_region
 *
 * All tasks but that of in_child and those of the taskloop are untied. With clang, an untied task
 * ends and is queued again at each scheduling point in it, and any thread executes the next part. */
#include "worker-functions.h"

#include <omp.h>
#include <stdlib.h>

enum { TASKS = 6, DEPTH = 2, ITERATIONS = 120 };

static double share;

#define WORKER(name)                                                                               \
    FUNCTION void name(void)                                                                       \
    {                                                                                              \
        compute(share);                                                                            \
    }
WORKER(part_1)
WORKER(part_2)
WORKER(part_3)
WORKER(before_wait)
WORKER(between)
WORKER(after_wait)
WORKER(in_child)
WORKER(leaf)
WORKER(iteration)
WORKER(in_region)

#define IN_ONE_THREAD _Pragma("omp parallel") _Pragma("omp single")

FUNCTION void create_yielding(void)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task untied
    {
        part_1();
#pragma omp taskyield
        part_2();
#pragma omp taskyield
        part_3();
    }
}

FUNCTION void yields(void)
{
    IN_ONE_THREAD create_yielding();
}

FUNCTION void create_child(void)
{
#pragma omp task
    in_child();
}

FUNCTION void create_waiting(void)
{
    for (int i = 0; i < TASKS; i++)
#pragma omp task untied
    {
        before_wait();
        create_child();
        between();
#pragma omp taskwait
        after_wait();
    }
}

FUNCTION void waits(void)
{
    IN_ONE_THREAD create_waiting();
}

FUNCTION void grow(int depth)
{
    for (int i = 0; i < 2; i++)
#pragma omp task untied
    {
        if (depth < DEPTH) {
            grow(depth + 1);
        } else {
#pragma omp taskyield
            leaf();
        }
#pragma omp taskwait
    }
}

FUNCTION void grows(void)
{
    IN_ONE_THREAD grow(1);
}

FUNCTION void from_loop(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < ITERATIONS; i++)
        iteration();
}

FUNCTION void splits(void)
{
    IN_ONE_THREAD from_loop();
}

FUNCTION void nested(void)
{
#pragma omp parallel num_threads(2)
    in_region();
}

FUNCTION void behind(void)
{
#pragma omp parallel
    nested();
}

int main(int count, char **arguments)
{
    share = count > 1 ? atof(arguments[1]) : 0.001;
    omp_set_max_active_levels(2);
    for (int round = 0; round < 2; round++) {
        yields();
        waits();
        grows();
        splits();
        behind();
    }
    return 0;
}
