/* Constructs whose code stays in the body of the region: nested-scopes MILLISECONDS. Each function is
 * called in the constructs that test_openmp.Scopes lists, and uses that much CPU time. */
#include <stdlib.h>
#include <time.h>

static double duration;
static volatile double sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void work(void)
{
    double end = now() + duration;
    do
        for (int i = 0; i < 1000; i++)
            sink += i;
    while (now() < end);
}

/* Not the last statement: that would be a jump, with no frame of the function. */
#define WORKER(name)                                                                               \
    __attribute__((noinline)) static void name(void)                                               \
    {                                                                                              \
        work();                                                                                    \
        sink += __LINE__;                                                                          \
    }
WORKER(in_region)
WORKER(in_critical)
WORKER(in_table)
WORKER(in_nested)
WORKER(after_nested)
WORKER(in_loop)
WORKER(in_branch)
WORKER(in_inlined)
WORKER(in_single)
WORKER(after_single)
WORKER(in_nowait)
WORKER(in_ordered)
WORKER(after_ordered)
WORKER(in_section_1)
WORKER(in_section_2)
WORKER(in_master)
WORKER(in_last)
WORKER(in_for)
WORKER(in_sections)

static inline __attribute__((always_inline)) void helper(void)
{
#pragma omp critical(helper)
    in_inlined();
}

int main(int count, char **arguments)
{
    int n = count;
    duration = (count > 1 ? atof(arguments[1]) : 0) * 1e-3;
#pragma omp parallel
    {
        in_region();
#pragma omp critical
        in_critical();
#pragma omp critical(table)
        {
            in_table();
#pragma omp critical(inner)
            in_nested();
            after_nested();
        }
#pragma omp critical(loop)
        for (int i = 0; i < 2 * n; i++)
            in_loop();
#pragma omp critical(branch)
        if (n > 1)
            in_branch();
        helper();
#pragma omp single
        in_single();
        after_single();
#pragma omp single nowait
        in_nowait();
#pragma omp for ordered
        for (int i = 0; i < 2; i++) {
#pragma omp ordered
            in_ordered();
            after_ordered();
        }
#pragma omp sections
        {
#pragma omp section
            in_section_1();
#pragma omp section
            in_section_2();
        }
#pragma omp master
        in_master();
#pragma omp critical(last)
        in_last();
    }
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 2; i++)
        in_for();
#pragma omp parallel sections
    {
        in_sections();
#pragma omp section
        in_sections();
    }
    return 0;
}
