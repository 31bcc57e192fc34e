/* paths SECONDS: work in regions and tasks, at call paths that are known.
 *
 * Each worker function is called from one path only, and computes for a share of the time:
 *
 *     in_first     main > first > region > in_first             a region
 *     in_second    main > second > helper > region > in_second  another, with half of that work
 *     in_nested    main > nested > region > middle > region > in_nested
 *     leaf_D       main > forest > region > branch > grow > task > branch > grow > task ... >
 *                  leaf_D, with D times "branch > grow > task": both return before the tasks run
 *     in_loop      main > loops > region > from_loop > taskloop > in_loop
 *     in_left      main > loops > region > leave > taskloop without a group > in_left
 *     in_large     main > forest > region > large > task > in_large: a creator with large frames
 *     in_deep      main > forest > region > dig > task > dig > task ... > dig > task > in_deep: the
 *                  last one is created by 30 KB of frames of DEPTH tasks that run where they are
 *                  created (not with clang) */
#include "worker-functions.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static double unit; /* seconds */

#define WORKER(name)                                                                               \
    FUNCTION void name(double units)                                                               \
    {                                                                                              \
        compute(units *unit);                                                                      \
    }
WORKER(in_first)
WORKER(in_second)
WORKER(in_nested)
WORKER(leaf_1)
WORKER(leaf_2)
WORKER(leaf_3)
WORKER(in_loop)
WORKER(in_left)
WORKER(in_large)
WORKER(in_deep)

FUNCTION void first(void)
{
#pragma omp parallel
    in_first(50);
}

FUNCTION void helper(void)
{
#pragma omp parallel
    in_second(25);
}

FUNCTION void second(void)
{
    helper();
    __asm__("");
}

FUNCTION void middle(void)
{
#pragma omp parallel num_threads(2)
    in_nested(20);
    __asm__("");
}

FUNCTION void nested(void)
{
#pragma omp parallel num_threads(2)
    {
        middle();
        __asm__("");
    }
}

FUNCTION void branch(int depth);

FUNCTION void grow(int depth)
{
    static void (*const leaf[])(double) = {NULL, leaf_1, leaf_2, leaf_3};
    for (int i = 0; i < 2; i++)
#pragma omp task firstprivate(depth)
    {
        leaf[depth](16 >> depth);
        if (depth < 3)
            branch(depth + 1);
        __asm__("");
    }
}

FUNCTION void branch(int depth)
{
    grow(depth);
    __asm__("");
}

FUNCTION void large(void)
{
    char room[3000];
    memset(room, 1, sizeof room);
#pragma omp task
    in_large(20);
    __asm__("" : : "r"(room) : "memory");
}

enum { DEPTH = 10 };

FUNCTION void dig(int depth)
{
    char room[3000];
    memset(room, 1, sizeof room);
#pragma omp task if (depth == DEPTH)
    {
        if (depth < DEPTH)
            dig(depth + 1);
        else
            in_deep(10);
        __asm__("");
    }
    __asm__("" : : "r"(room) : "memory");
}

FUNCTION void forest(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
        branch(1);
        large();
#ifndef __clang__
        dig(0);
#endif
    }
}

FUNCTION void from_loop(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 8; i++)
        in_loop(8);
}

FUNCTION void leave(void)
{
#pragma omp taskloop grainsize(1) nogroup
    for (int i = 0; i < 8; i++)
        in_left(8);
    __asm__("");
}

FUNCTION void loops(void)
{
#pragma omp parallel
#pragma omp single
    {
        from_loop();
        leave();
    }
}

int main(int count, char **arguments)
{
    unit = (count > 1 ? atof(arguments[1]) : 1) / 1000;
    omp_set_max_active_levels(2);
    first();
    second();
    nested();
    forest();
    loops();
    return 0;
}
