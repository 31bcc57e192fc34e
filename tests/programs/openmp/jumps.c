/* jumps SECONDS: bodies of constructs that end with a jump to a function, and have no frame then, and
 * others. Each worker function computes for that long at each call, and is called from one path only:
 *
 *     in_region    main > plain > region, which jumps > in_region
 *     in_nested    main > nested > region, which jumps > middle > region, which jumps > in_nested
 *     in_inner     main > inside > region, which jumps to the begin of another region > in_inner
 *     in_leaf      main > start > region, which jumps > tree > task, which jumps > tree > task, which
 *                  jumps > tree > in_leaf
 *     compare      main > library > region, which jumps > qsort > compare
 *     in_frame     main > framed > region > in_frame
 *     in_part      main > parted > region > in_part: called from a part of the region's body that the
 *                  compiler puts elsewhere, since it is rare
 *     in_alone     main > deep > region, which jumps > lower > region, which jumps > lowest > region of
 *                  one thread, which jumps > in_alone */
#include "worker-functions.h"

#include <omp.h>
#include <stdlib.h>

#define KEEP __asm__ volatile("") /* no call in front of it is a jump */

static double share;
static volatile int is_rare = 1;

#define WORKER(name, ...)                                                                          \
    __VA_ARGS__ FUNCTION void name(void)                                                           \
    {                                                                                              \
        compute(share);                                                                            \
    }
WORKER(in_region)
WORKER(in_nested)
WORKER(in_inner)
WORKER(in_leaf)
WORKER(in_frame)
WORKER(in_alone)
WORKER(in_part, __attribute__((cold)))

FUNCTION void plain(void)
{
#pragma omp parallel num_threads(2)
    in_region();
    KEEP;
}

FUNCTION void middle(void)
{
#pragma omp parallel num_threads(2)
    in_nested();
    KEEP;
}

FUNCTION void nested(void)
{
#pragma omp parallel num_threads(2)
    middle();
    KEEP;
}

FUNCTION void inside(void)
{
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    in_inner();
    KEEP;
}

FUNCTION void tree(int depth)
{
    if (depth == 0) {
        in_leaf();
        KEEP;
        return;
    }
#pragma omp task
    tree(depth - 1);
#pragma omp task
    tree(depth - 1);
    KEEP;
}

FUNCTION void start(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    tree(2);
    KEEP;
}

FUNCTION int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    compute(share);
    return 0;
}

FUNCTION void library(void)
{
    static int values[2][2];
#pragma omp parallel num_threads(2)
    qsort(values[omp_get_thread_num()], 2, sizeof(int), compare);
    KEEP;
}

FUNCTION void framed(void)
{
#pragma omp parallel num_threads(2)
    {
        in_frame();
        KEEP;
    }
    KEEP;
}

FUNCTION void parted(void)
{
#pragma omp parallel num_threads(2)
    {
        if (is_rare) {
            in_part();
            KEEP;
        }
    }
    KEEP;
}

FUNCTION void lowest(void)
{
#pragma omp parallel
    in_alone();
    KEEP;
}

FUNCTION void lower(void)
{
#pragma omp parallel num_threads(2)
    lowest();
    KEEP;
}

FUNCTION void deep(void)
{
#pragma omp parallel num_threads(2)
    lower();
    KEEP;
}

int main(int count, char **arguments)
{
    share = count > 1 ? atof(arguments[1]) : 0.01;
    omp_set_max_active_levels(2);
    plain();
    nested();
    inside();
    start();
    library();
    framed();
    parted();
    deep();
    return 0;
}
