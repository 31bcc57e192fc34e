/* Quicksort of sin(0), sin(1), ..., the example of Cilkview (He, Leiserson, Leiserson, SPAA 2010):
 * the two halves are sorted in parallel, but partitioning is serial, which limits the parallelism.
 * `partition` is a Cilk procedure, so that it has work and span of its own in the tables. */
#include "driver.h"

/* Cilkview's program goes down to single numbers. Strands so short could not be measured. */
enum { SORT_SERIALLY = 64 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void swap(double *a, double *b)
{
    const double before = *a;
    *a = *b;
    *b = before;
}

/* Puts the numbers below the first one in front of it; *middle is its place. */
CILK_PROC(partition, double *begin; double *end; double **middle;);

CILK_BODY(partition)
{
    CILK_BEGIN(partition);
    double *middle = f->begin;
    for (double *at = f->begin + 1; at < f->end; at++)
        if (*at < *f->begin)
            swap(++middle, at);
    swap(f->begin, middle);
    *f->middle = middle;
    CILK_END;
}

CILK_PROC(quicksort, double *begin; double *end; double *middle;);

CILK_BODY(quicksort)
{
    CILK_BEGIN(quicksort);
    if (f->end - f->begin <= SORT_SERIALLY) {
        qsort(f->begin, (size_t)(f->end - f->begin), sizeof(double), compare);
        CILK_RETURN;
    }
    CILK_SPAWN(partition, a->begin = f->begin; a->end = f->end; a->middle = &f->middle);
    CILK_SYNC();
    CILK_SPAWN(quicksort, a->begin = f->begin; a->end = f->middle);
    CILK_SPAWN(quicksort, a->begin = f->middle + 1; a->end = f->end);
    CILK_END;
}

int main(int argc, char **argv)
{
    const long count = driver_start(argc, argv, 10000000, 1, INT32_MAX);
    double *numbers = driver_memory((size_t)count * sizeof(double));
    for (long i = 0; i < count; i++)
        numbers[i] = sin((double)i);
    CILK_RUN(quicksort, a->begin = numbers; a->end = numbers + count);
    bool right = true;
    for (long i = 1; i < count; i++)
        right &= numbers[i - 1] <= numbers[i];
    free(numbers);
    return driver_end("quicksort", count, right);
}
