/* Loops whose control flow is not that of a plain `for`: switches, computed gotos, several entries
 * and exits, and what optimizers make of loops; compiled by test_structure_source.py, which finds
 * lines by their markers and, with -DMARKS, addresses of code by MARK. */
#include "tests/programs/structure/mark.h"

#include <stddef.h>

extern volatile int sink;
volatile int sink;
#define NOINLINE __attribute__((noinline))

#define CASE(n)                                                                                    \
    case n: sink = sink * (n * 7 + 3) + n; break;

/* A jump table in a loop; one of its cases is a loop. */
NOINLINE int switch_in_loop(const unsigned char *text, int n)
{
    int s = 0;
    for (; *text; text++) /* LINE switch-for */
        switch (*text & 15) {
            CASE(0)
            CASE(1)
            CASE(2)
            CASE(3)
            CASE(4)
            CASE(5)
            CASE(6)
        case 7:
            MARK("switch-case");
            s += sink;
            break;
        case 8:
            for (int i = 0; i < n; i++) { /* LINE switch-inner */
                MARK("switch-inner");
                s ^= sink;
            }
            break;
            CASE(9)
            CASE(10)
        case 11:
            MARK("switch-return");
            sink = 5;
            return s;
        default: sink = 3;
        }
    MARK("switch-end");
    return s;
}

/* An interpreter in which every operation jumps to every other one. It is one loop, not a nest with a loop
 * per operation; operations may contain loops. */
NOINLINE int interpret(const unsigned char *code, int n)
{
    static const void *const targets[] = {&&add, &&multiply, &&negate, &&store, &&repeat, &&halt};
    int a = 0; /* LINE interpret-first */
    goto *targets[*code++];
add:
    MARK("interpret-add");
    if (a > sink)
        goto halt;
    a += *code++;
    goto *targets[*code++];
multiply:
    MARK("interpret-multiply");
    if (a > n + sink)
        goto halt;
    a *= *code++;
    goto *targets[*code++];
negate:
    if (a > n - sink)
        goto halt;
    a = -a - sink;
    goto *targets[*code++];
store:
    MARK("interpret-store");
    if (a == sink)
        goto halt;
    sink = a;
    goto *targets[*code++];
repeat:
    for (int i = 0; i < n; i++) { /* LINE interpret-for */
        MARK("interpret-repeat");
        a ^= sink;
    }
    goto *targets[*code++];
halt:
    sink = a;
    MARK("interpret-end");
    return a; /* LINE interpret-last */
}

/* A loop around a machine with three states, each of which may be the first. */
NOINLINE int state_machine(const int *a, int rounds, int start)
{
    int s = 0;
    for (int round = 0; round < rounds; round++) { /* LINE machine-for */
        MARK("machine-outer");
        const int *at = a; /* LINE machine-first */
        if (start == sink)
            goto second;
        if (start == sink + 1)
            goto third;
    first:
        MARK("machine-first");
        s += *at++;
        if (s & 1)
            goto third;
    second:
        MARK("machine-second");
        s ^= *at++ + sink;
        if (s & 2)
            goto first;
    third:
        MARK("machine-third");
        s *= *at++ + sink;
        if (s & 4)
            goto second;
        if (s & 8)
            goto first; /* LINE machine-last */
        sink = s;
    }
    return s;
}

/* The only exit is in the middle; the loop is continued from several places. */
NOINLINE int middle_exit(const int *a, int n)
{
    int s = 0;
    for (;;) { /* LINE middle-for */
        MARK("middle-top");
        s += sink;
        if (s > n) /* LINE middle-if */
            break;
        if (a[s & 7] < 0) {
            MARK("middle-continue");
            sink = s;
            continue;
        }
        while (a[s & 7] > sink) { /* LINE middle-while */
            MARK("middle-inner");
            s++;
        }
    }
    MARK("middle-end");
    return s;
}

/* Compilers make a nest of two loops of a loop that is continued in two places. */
struct item {
    const struct item *next;
    int value;
};

NOINLINE const struct item *next_item(const struct item *item)
{
    return sink ? NULL : item->next;
}

NOINLINE int continued(const struct item *item)
{
    int s = 0;
    while ((item = next_item(item))) { /* LINE continued-while */
        MARK("continued-top");
        if (item->value > s) {
            MARK("continued-body");
            s += item->value;
            sink = s;
        }
    }
    return s;
}

/* The optimizer makes a vector loop and a remainder loop of this one. */
NOINLINE void vector(float *restrict a, const float *restrict b, size_t n)
{
    for (size_t i = 0; i < n; i++) /* LINE vector-for */
        a[i] = a[i] * 2 + b[i];
}

/* The optimizer makes two loops of this one, since its condition is invariant. */
NOINLINE int unswitched(const int *a, int n, int odd)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE unswitched-for */
        if (odd)
            s = s * 3 ^ a[i];
        else
            s += a[i] * s - 7;
    }
    return s;
}

/* The optimizer copies the body of this one. */
NOINLINE int unrolled(const int *a, int n)
{
    int s = 1;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) /* LINE unrolled-for */
        s = s * 31 + a[i];
    return s;
}

int main(int argc, char **argv)
{
    int n = sink + argc;
    const struct item last = {NULL, n};
    int a[8] = {n, 1, 2, 3, -n, 5, 6, 7};
    float x[64] = {(float)n}, y[64] = {1};
    const unsigned char code[] = {0, 1, 1, 2, 2, 3, 4, 5};
    vector(x, y, (size_t)(n & 63));
    return switch_in_loop((const unsigned char *)argv[0], n) + interpret(code, n) +
           state_machine(a, n, n) + middle_exit(a, n) + continued(&last) + unswitched(a, n, n) +
           unrolled(a, n) + (int)x[0];
}
