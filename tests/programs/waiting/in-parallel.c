/* Whether a call is in a parallel region of OpenMP, as the program's functions and a plug-in's see it. -DPLUGIN: the
 * plug-in, which alone is linked to the runtime. */
#include <dlfcn.h>
#include <stdio.h>

int omp_in_parallel(void);
int regions(void);

#ifdef PLUGIN
int regions(void)
{
    int inside = 0;
#pragma omp parallel num_threads(2) reduction(+ : inside)
    inside += omp_in_parallel();
    return 10 * inside + omp_in_parallel();
}
#else
int main(int count, char **arguments)
{
    void *plugin = dlopen(arguments[count - 1], RTLD_NOW | RTLD_LOCAL);
    int (*call)(void) = plugin ? (int (*)(void))dlsym(plugin, "regions") : NULL;
    printf("%d\n", call ? call() : -1);
    return 0;
}
#endif
