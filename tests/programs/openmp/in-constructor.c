/* With PLUG_IN: a library whose constructor has a parallel region. A thread of the team, not the one
 * that runs the constructor, is the first in each construct; until then that one calls nothing.
 * Otherwise: a program that opens the library and prints its `sum`, which is 6. */
#include <stdio.h>

#ifdef PLUG_IN
#include <omp.h>

int sum;

__attribute__((constructor)) static void add(void)
{
    _Atomic int is_first_done = 0;
#pragma omp parallel num_threads(2)
    {
        while (omp_get_thread_num() == 0 && !is_first_done)
            continue;
#pragma omp critical
        sum++;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 2; i++) {
#pragma omp critical(other)
            sum++;
        }
#pragma omp task
        {
#pragma omp atomic
            sum++;
        }
#pragma omp taskwait
        is_first_done = 1;
    }
}
#else
#include <dlfcn.h>

int main(int count, char **arguments)
{
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    const int *sum = library ? dlsym(library, "sum") : NULL;
    if (!sum)
        return 1;
    printf("%d\n", *sum);
    return 0;
}
#endif
