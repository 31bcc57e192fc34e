/* Fibonacci numbers by naive recursion: nothing but spawns. Shows the cost of a spawn. */
#include "driver.h"

CILK_PROC(fib, int n; long *result; long x; long y;);

CILK_BODY(fib)
{
    CILK_BEGIN(fib);
    if (f->n < 2) {
        *f->result = f->n;
        CILK_RETURN;
    }
    CILK_SPAWN(fib, a->n = f->n - 1; a->result = &f->x);
    CILK_SPAWN(fib, a->n = f->n - 2; a->result = &f->y);
    CILK_SYNC();
    *f->result = f->x + f->y;
    CILK_END;
}

static long fib_by_addition(long n)
{
    long previous = 1, current = 0;
    for (long i = 0; i < n; i++) {
        const long next = previous + current;
        previous = current;
        current = next;
    }
    return current;
}

int main(int argc, char **argv)
{
    const long n = driver_start(argc, argv, 38, 0, 60);
    long result = -1;
    CILK_RUN(fib, a->n = (int)n; a->result = &result);
    return driver_end("fib", n, result == fib_by_addition(n));
}
