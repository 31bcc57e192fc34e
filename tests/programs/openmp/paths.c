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
 *     in_large     main > forest > region > large > task > in_large: a creator with large frames */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline, disable_tail_calls)) static void
#else
#define FUNCTION __attribute__((noipa)) static void
#endif

static double unit; /* seconds */

/* Computes for a time on the thread's CPU clock. */
static inline void compute(double units)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        for (volatile int i = 0; i < 1000; i++)
            ;
    while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 &&
           (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 <
               units * unit);
}

#define WORKER(name)                                                                               \
    FUNCTION name(double units)                                                                    \
    {                                                                                              \
        compute(units);                                                                            \
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

FUNCTION first(void)
{
#pragma omp parallel
    in_first(50);
}

FUNCTION helper(void)
{
#pragma omp parallel
    in_second(25);
}

FUNCTION second(void)
{
    helper();
    __asm__("");
}

FUNCTION middle(void)
{
#pragma omp parallel num_threads(2)
    in_nested(20);
    __asm__("");
}

FUNCTION nested(void)
{
#pragma omp parallel num_threads(2)
    {
        middle();
        __asm__("");
    }
}

FUNCTION branch(int depth);

FUNCTION grow(int depth)
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

FUNCTION branch(int depth)
{
    grow(depth);
    __asm__("");
}

FUNCTION large(void)
{
    char room[3000];
    memset(room, 1, sizeof room);
#pragma omp task
    in_large(20);
    __asm__("" : : "r"(room) : "memory");
}

FUNCTION forest(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
        branch(1);
        large();
    }
}

FUNCTION from_loop(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 8; i++)
        in_loop(8);
}

FUNCTION leave(void)
{
#pragma omp taskloop grainsize(1) nogroup
    for (int i = 0; i < 8; i++)
        in_left(8);
    __asm__("");
}

FUNCTION loops(void)
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
