/* Code tagged as parallel overhead, for the four rules by which tags are found; compiled by
 * test_structure_source.py. */
extern volatile int sink;
volatile int sink;
#define NOINLINE __attribute__((noinline))

static inline __attribute__((always_inline)) int untagged_helper(int x)
{
    sink = x; /* LINE helper */
    return x + sink;
}

#include "overhead-region.h"

/* A macro that calls a tagged function: the call's code is tagged, the rest of the line is not. */
#define SPAWN(x) tagged_inline(x)

NOINLINE int uses_inline(int x)
{
    sink = 1;         /* LINE before-spawn */
    int y = SPAWN(x); /* LINE spawn */
    sink = 2;         /* LINE behind-spawn */
    return y + sink;
}

NOINLINE int uses_around(int x)
{
    sink = 3;
    int y = tagged_around(x); /* LINE around */
    sink = 4;
    return y;
}

NOINLINE int uses_kind(int x)
{
    sink = 5;
    int y = tagged_kind(x);
    sink = 6;
    return y;
}

NOINLINE int uses_routine(int x)
{
    return tagged_routine(x) + 1; /* LINE call-of-routine */
}

NOINLINE int uses_in_loop(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE spawn-loop */
        s += tagged_inline(i);    /* LINE spawn-in-loop */
        sink = s;                 /* LINE work-in-loop */
    }
    return s;
}

int main(int argc, char **argv)
{
    (void)argv;
    return uses_inline(argc) + uses_around(argc) + uses_kind(argc) + uses_routine(argc) +
           uses_in_loop(argc);
}
