/* outside THREADS ROUNDS [go | deep | exec PROGRAM ARGUMENT...]: each thread burns 12 ms in long_part and then 4 ms in
 * short_part, ROUNDS times. Half of the threads are created before the work begins.
 *
 *     go     says "ready" and waits for a line before the work
 *     deep   the same; the threads have 64 KB of their stacks in use
 *     exec   executes the program after the work
 *
 * Prints the CPU time of both functions, ns: that of all threads. */
#include "burn.h"

#include <alloca.h>

enum { LONG_NS = 12000000, SHORT_NS = 4000000, MAX_THREADS = 1024 };

static int rounds;
static size_t stack_bytes; /* that work has in use */
static _Atomic uint64_t long_ns, short_ns;
static pthread_barrier_t start;

/* Not the last call in its caller: that would be a jump. */
__attribute__((noinline)) static uint64_t deep(unsigned depth, uint64_t ns)
{
    return depth == 0 ? burn(ns) + 1 : deep(depth - 1, ns) + 1;
}

__attribute__((noinline)) static void long_part(void)
{
    long_ns += deep(5, LONG_NS);
}

__attribute__((noinline)) static void short_part(void)
{
    short_ns += deep(3, SHORT_NS);
}

__attribute__((noinline)) static void work(void)
{
    __asm__ volatile("" ::"r"(memset(alloca(stack_bytes + 1), 1, stack_bytes + 1)) : "memory");
    for (int i = 0; i < rounds; i++) {
        long_part();
        short_part();
    }
}

static void *early(void *unused)
{
    pthread_barrier_wait(&start);
    work();
    return unused;
}

static void *late(void *unused)
{
    work();
    return unused;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    pthread_t threads[MAX_THREADS];
    int n = atoi(arguments[1]);
    const char *then = count > 3 ? arguments[3] : "";
    rounds = atoi(arguments[2]);
    pthread_barrier_init(&start, NULL, (unsigned)n / 2 + 1);
    for (int i = 0; i < n / 2; i++)
        pthread_create(&threads[i], NULL, early, NULL);
    bool is_deep = strcmp(then, "deep") == 0;
    stack_bytes = is_deep ? 64 << 10 : 0;
    if (is_deep || strcmp(then, "go") == 0) {
        puts("ready");
        fflush(stdout);
        getchar();
    }
    pthread_barrier_wait(&start);
    for (int i = n / 2; i < n; i++)
        pthread_create(&threads[i], NULL, late, NULL);
    if (n == 0)
        work();
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %lu\n", (unsigned long)long_ns, (unsigned long)short_ns);
    fflush(stdout);
    if (strcmp(then, "exec") == 0 && count > 4)
        execv(arguments[4], arguments + 4);
    return 7;
}
