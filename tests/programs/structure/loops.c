/* All nests of loops and inlined functions; compiled by test_structure_source.py, which finds lines by
 * their markers and, with -DMARKS, addresses of code by MARK. */
#include "tests/programs/structure/mark.h"

#include <stddef.h>
#include <stdint.h>

extern volatile int sink;
volatile int sink;
#define NOINLINE __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))

/* A loop in the procedure itself. */
NOINLINE int plain(const int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* LINE plain-for */
        if (a[i] > s) {
            MARK("plain-body");
            s = a[i] * 3 + sink;
        }
    MARK("plain-end");
    return s;
}

/* A nest of three loops. */
NOINLINE void multiply(double *c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)       /* LINE multiply-i */
        for (int j = 0; j < n; j++) { /* LINE multiply-j */
            double s = 0;
            for (int k = 0; k < n; k++) { /* LINE multiply-k */
                s += a[i * n + k] * b[k * n + j];
                MARK("multiply-innermost");
            }
            MARK("multiply-middle");
            c[i * n + j] = s;
        }
}

/* A loop inside an inlined function. */
INLINE uint64_t checksum(const uint8_t *data, size_t size) /* LINE checksum */
{
    uint64_t sum = 1;
    for (size_t i = 0; i < size; i++) { /* LINE checksum-for */
        sum = sum * 31 + data[i];
        MARK("checksum-body");
    }
    MARK("checksum-end");
    return sum;
}

NOINLINE uint64_t inlined_loop(const uint8_t *data, size_t size)
{
    sink = 1;
    uint64_t sum = checksum(data, size); /* LINE inlined-loop-call */
    sink = 2;
    return sum;
}

/* A loop around an inlined call that has no loop. */
INLINE int mix(int a, int b) /* LINE mix */
{
    a ^= b << 7; /* LINE mix-shift */
    MARK("mix");
    a *= 0x5bd1e995; /* LINE mix-multiply */
    return a ^ (a >> 13);
}

NOINLINE int loop_around(const int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE loop-around-for */
        sink = i;
        MARK("loop-around-body");
        s = mix(s, a[i]); /* LINE loop-around-call */
    }
    return s;
}

/* A loop around an inlined loop. */
NOINLINE uint64_t loop_around_loop(uint8_t *const *rows, int count, size_t size)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {   /* LINE loop-around-loop-for */
        sum ^= checksum(rows[i], size); /* LINE loop-around-loop-call */
        MARK("loop-around-loop-body");
    }
    return sum;
}

/* The condition of the loop is in an inlined function, as with iterators of C++. */
struct cursor {
    const int *at, *end;
};

INLINE int has_more(const struct cursor *c) /* LINE has-more */
{
    return c->at != c->end;
}

INLINE int next_value(struct cursor *c) /* LINE next-value */
{
    return *c->at++;
}

NOINLINE int iterate(const int *a, int n)
{
    struct cursor c = {a, a + n};
    int s = 0;
    while (has_more(&c)) { /* LINE iterate-while */
        int v = next_value(&c);
        MARK("iterate-body");
        if (v & 1)
            sink = v;
        s += v;
    }
    return s;
}

/* Loops with other exits. */
NOINLINE int do_loop(int n)
{
    do {
        n = n * 3 + sink;
        MARK("do-body");
        sink = n;
    } while (n & 0xff); /* LINE do-while */
    return n;
}

NOINLINE int early_exit(const int *a, int n, int key)
{
    for (int i = 0; i < n; i++) { /* LINE early-exit-for */
        if (a[i] == key)
            return i;
        sink = i;
        MARK("early-exit-body");
        if (a[i] < 0)
            break;
    }
    return -1;
}

/* Recursion with a loop. */
struct node {
    struct node *children[4];
    int value;
};

NOINLINE int visit(const struct node *node)
{
    int s = node->value;
    for (int i = 0; i < 4; i++) /* LINE visit-for */
        if (node->children[i]) {
            MARK("visit-body");
            s = visit(node->children[i]) - s; /* no sum: clang makes a loop of it */
        }
    return s;
}

/* Two levels of inlining, a loop in each. */
INLINE int inner_level(const int *a, int n) /* LINE inner-level */
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE inner-level-for */
        s ^= a[i] + sink;
        MARK("inner-level-body");
    }
    return s;
}

INLINE int outer_level(int *const *a, int rows, int n) /* LINE outer-level */
{
    int s = 0;
    for (int r = 0; r < rows; r++) { /* LINE outer-level-for */
        s += inner_level(a[r], n);   /* LINE outer-level-call */
        MARK("outer-level-body");
    }
    return s;
}

NOINLINE int two_levels(int *const *a, int rows, int n)
{
    int s = 0;
    for (int round = 0; round < 3; round++) { /* LINE two-levels-for */
        sink = round;
        s += outer_level(a, rows, n); /* LINE two-levels-call */
        MARK("two-levels-body");
        sink = s;
    }
    return s;
}

/* A loop with two entries. */
NOINLINE int two_entries(int n, int enter)
{
    int s = 0;
    if (enter > sink)
        goto middle;
top:
    s += n;
    sink = s;
middle:
    s ^= sink;
    MARK("two-entries-body");
    if (s < n) /* LINE two-entries-if */
        goto top;
    return s;
}

int main(int argc, char **argv)
{
    int a[8] = {1, 2, 3, 4, 5, 6, 7, argc};
    double m[3][64] = {{argc}};
    uint8_t *rows[2] = {(uint8_t *)argv[0], (uint8_t *)argv[0]};
    int *lines[2] = {a, a};
    struct node leaf = {{0}, argc}, root = {{&leaf, &leaf, 0, 0}, 1};
    /* No argument is a constant, which would be propagated into the procedures. */
    int n = sink + argc;
    multiply(m[0], m[1], m[2], n);
    return plain(a, n) + (int)inlined_loop(rows[0], n) + loop_around(a, n) +
           (int)loop_around_loop(rows, n, n) + iterate(a, n) + do_loop(n) + early_exit(a, n, n) +
           visit(&root) + two_levels(lines, n, n) + two_entries(n, n) + (int)m[0][0];
}
