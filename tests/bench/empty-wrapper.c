/* Preloaded into an OpenMP program of gcc: wrappers that pass libgomp functions of their own in place of
 * the program's, and barriers on, and do nothing else. The floor for every agent that interposes them. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct wrapped {
    void (*function)(void *);
    void *data;
};

typedef void parallel_function(void (*)(void *), void *, unsigned, unsigned);
typedef void barrier_function(void);

parallel_function GOMP_parallel;
barrier_function GOMP_barrier;

static parallel_function *real_parallel;
static barrier_function *real_barrier;

static void find(const char *name, void *to)
{
    void *function = dlsym(RTLD_NEXT, name);
    memcpy(to, &function, sizeof function);
}

__attribute__((constructor)) static void begin(void)
{
    find("GOMP_parallel", &real_parallel);
    find("GOMP_barrier", &real_barrier);
}

static void run(void *data)
{
    const struct wrapped *wrapped = data;
    wrapped->function(wrapped->data);
}

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    struct wrapped wrapped = {function, data};
    real_parallel(run, &wrapped, threads, flags);
}

static volatile int is_waiting;

void GOMP_barrier(void)
{
    is_waiting = 1;
    real_barrier();
    is_waiting = 0;
}
