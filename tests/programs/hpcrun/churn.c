/* churn MS LIBRARY...: for MS of wall time, one thread for each library opens and closes it, at full
 * speed, while three threads create others, which work for 100 us. If a library has a function `work`,
 * it is called in between. Prints "loads N, threads N" and "survived". */
#include "burn.h"

#include <dlfcn.h>
#include <stdatomic.h>

enum { CREATORS = 3, MOST_LIBRARIES = 16 };

static uint64_t end;
static _Atomic unsigned long loads, threads;

static bool is_over(void)
{
    return clock_ns(CLOCK_MONOTONIC) >= end;
}

static void *work_a_little(void *unused)
{
    burn(100000);
    return unused;
}

static void *create_threads(void *unused)
{
    while (!is_over()) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work_a_little, NULL) != 0)
            continue;
        pthread_join(thread, NULL);
        threads++;
    }
    return unused;
}

static void *load(void *path)
{
    while (!is_over()) {
        void *library = dlopen(path, RTLD_NOW);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        void (*work)(void) = (void (*)(void))dlsym(library, "work");
        if (work)
            work();
        dlclose(library);
        loads++;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t all[CREATORS + MOST_LIBRARIES];
    int libraries = count - 2, started = 0;
    if (libraries < 1 || libraries > MOST_LIBRARIES)
        return 2;
    end = clock_ns(CLOCK_MONOTONIC) + strtoull(arguments[1], NULL, 10) * 1000000;
    for (int i = 0; i < CREATORS; i++)
        pthread_create(&all[started++], NULL, create_threads, NULL);
    for (int i = 0; i < libraries; i++)
        pthread_create(&all[started++], NULL, load, arguments[2 + i]);
    for (int i = 0; i < started; i++)
        pthread_join(all[i], NULL);
    printf("loads %lu, threads %lu\nsurvived\n", loads, threads);
    return 0;
}
