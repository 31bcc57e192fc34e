/* Tasks that are executed where they are created, each in the one before. Prints the bytes of stack that
 * one of them takes, in a parallel region of one thread and outside of all regions. */
#include <stdint.h>
#include <stdio.h>

enum { DEPTH = 1000 };

/* Returns the lowest address of the frames. */
static uintptr_t nest(int depth)
{
    volatile uintptr_t here = (uintptr_t)&here, lowest = here;
    if (depth > 0) {
#pragma omp task shared(lowest) if (depth < 0) /* else libgomp of gcc 14 runs it later */
        lowest = nest(depth - 1);
    }
    return lowest;
}

static unsigned long bytes_of_task(void)
{
    return (unsigned long)((nest(0) - nest(DEPTH)) / DEPTH);
}

int main(void)
{
    unsigned long bytes = 0;
#pragma omp parallel num_threads(1)
    bytes = bytes_of_task();
    printf("%lu %lu\n", bytes, bytes_of_task());
    return 0;
}
