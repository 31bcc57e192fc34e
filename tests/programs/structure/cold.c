/* Functions with cold parts that the compiler splits off (gcc -O2), functions that never return, tail
 * calls, recursion; compiled by test_hpcstruct.py. */
#include "tests/programs/structure/mark.h"

#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define COLD     __attribute__((noinline, cold))

extern volatile int sink;
volatile int sink;

COLD void complain(const char *about)
{
    sink = about[0];
}

/* Never returns; only its code shows that. */
NOINLINE void give_up(int status)
{
    sink = status;
    exit(status + 1);
}

/* The cold part jumps back into the loop. */
NOINLINE int cold_in_loop(const int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE cold-loop */
        if (a[i] < 0) {
            MARK("cold-in-loop");
            complain("negative");
            s -= a[i] * sink;
        }
        s += a[i] ^ sink;
    }
    return s;
}

/* The cold part has a loop of its own. */
NOINLINE int loop_in_cold(const int *a, int n)
{
    int s = sink;
    if (__builtin_expect_with_probability(n > 100, 0, 1.0)) { /* gcc 14 keeps it here otherwise */
        for (int i = 0; i < n; i++) { /* LINE loop-in-cold */
            MARK("loop-in-cold");
            complain("many");
            s += a[i];
        }
        complain("end");
    }
    return s + a[0];
}

/* The code after the call belongs to another function: control does not continue there. */
NOINLINE int ends_in_call(int n)
{
    for (int i = 0; i < n; i++) { /* LINE ends-in-call */
        sink += i;
        if (sink == 12345)
            give_up(n);
    }
    return sink;
}

NOINLINE int tail_callee(int n)
{
    return n * sink;
}

NOINLINE int tail_caller(int n)
{
    sink = n;
    return tail_callee(n + 1);
}

/* The compiler turns a recursive tail call into a loop. */
NOINLINE int tail_recursion(int n, int s)
{
    if (n <= sink)
        return s;
    sink++;
    MARK("tail-recursion");
    return tail_recursion(n - 1, s * n);
}

int main(int argc, char **argv)
{
    int a[4] = {argc, -argc, (int)(argv[0][0])};
    return cold_in_loop(a, 4) + loop_in_cold(a, 4) + ends_in_call(argc) + tail_caller(argc) +
           tail_recursion(argc, 1);
}
