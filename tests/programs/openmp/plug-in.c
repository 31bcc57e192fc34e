/* Built twice. With -DPLUG_IN: a library whose region uses a critical section. Without: reload FILE
 * TIMES, which opens the library that often, calls it and closes it, and prints the sum of its
 * results: libgomp is loaded and unloaded with it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PLUG_IN
int sum_of_region(int n)
{
    int sum = 0;
#pragma omp parallel
#pragma omp critical
    for (int i = 1; i <= n; i++)
        sum += i;
    /* Ends with a jump to libgomp, whose caller then is what called the region's function. */
#pragma omp parallel
    {
#pragma omp barrier
    }
    return sum;
}
#else
int main(int count, char **arguments)
{
    int sum = 0;
    for (int i = 0; count == 3 && i < atoi(arguments[2]); i++) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        int (*function)(int) = library ? (int (*)(int))dlsym(library, "sum_of_region") : NULL;
        sum += function ? function(4) : 0;
        if (library)
            dlclose(library);
    }
    printf("%d\n", sum);
    return 0;
}
#endif
