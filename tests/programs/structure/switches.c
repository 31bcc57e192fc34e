/* Switches of many shapes and a computed goto; test_hpcstruct.py compares the jump tables that the
 * compiler emits for them with those that hpcstruct finds. Each case does something different, so
 * that compilers do not emit a table of values instead. */
#define NOINLINE __attribute__((noinline))

extern volatile int sink;
volatile int sink;

#define DO(n)                                                                                      \
    case n:                                                                                        \
        sink = sink * (n * 7 + 3) + n;                                                             \
        break;
#define DO4(n)  DO(n) DO(n + 1) DO(n + 2) DO(n + 3)
#define DO16(n) DO4(n) DO4(n + 4) DO4(n + 8) DO4(n + 12)

NOINLINE void dense(int i)
{
    switch (i) {
        DO16(0)
    }
}

NOINLINE void two_in_a_row(int i, int j)
{
    switch (i) {
        DO16(0)
    default: sink = 1;
    }
    sink += 5;
    switch (j) {
        DO16(0)
        DO4(16)
    default: sink = 2;
    }
}

NOINLINE void with_offset(int i)
{
    switch (i) {
        DO16(1000)
    }
}

NOINLINE void with_negative_offset(int i)
{
    switch (i) {
        DO16(-20)
    }
}

NOINLINE void with_holes(unsigned i)
{
    switch (i) {
        DO4(0)
        DO4(7)
        DO4(14)
        DO(20)
    default: sink = 9;
    }
}

NOINLINE void of_bytes(const unsigned char *text)
{
    for (; *text; text++)
        switch (*text) {
            DO16('a')
            DO4('0')
            DO4('A')
        }
}

NOINLINE void of_signed_bytes(signed char c)
{
    switch (c) {
        DO16(-8)
    }
}

NOINLINE void of_masked(unsigned i)
{
    switch (i & 15) {
        DO16(0)
    }
}

NOINLINE void without_default(unsigned i)
{
    switch (i) {
        DO16(0)
    default: __builtin_unreachable();
    }
}

NOINLINE int of_long(long i)
{
    switch (i) {
        DO16(0)
    default: return -1;
    }
    return sink;
}

NOINLINE int nested(int i, int j)
{
    int result = 0;
    while (i > 0) {
        switch (i % 11) {
            DO4(0)
            DO4(4)
        case 8:
            switch (j++) {
                DO16(3)
            default: return result;
            }
            break;
        case 9: continue;
        default: result += sink;
        }
        i -= sink;
    }
    return result;
}

/* Values that live across calls are spilled to the stack, since registers are scarce. */
NOINLINE long crowded(const long *a, int i)
{
    long b = a[0], c = a[1], d = a[2], e = a[3], f = a[4], g = a[5], h = a[6], k = a[7];
    for (int n = 0; n < i; n++) {
        switch (n ^ i) {
        case 0: b += c * d; break;
        case 1: c += d ^ e; break;
        case 2: d += e * f; break;
        case 3: e -= f * g; break;
        case 4: f += g * h; break;
        case 5: g ^= h * k; break;
        case 6: h += k * b; break;
        case 7:
            k += b * c;
            dense(n);
            break;
        case 8: b ^= e; break;
        case 9: c ^= f; break;
        }
        switch (a[n]) {
        case 0: b = c; break;
        case 1: c = d * 3; break;
        case 2: d = e * 5; break;
        case 3: e = f * 7; break;
        case 4: f = g * 9; break;
        case 5: g = h - 1; break;
        case 6: h = k - 2; break;
        case 7: k = b - 3; break;
        }
    }
    return b + c + d + e + f + g + h + k;
}

/* A computed goto, as in interpreters. */
NOINLINE int interpret(const unsigned char *code)
{
    static const void *const targets[] = {&&add, &&multiply, &&negate, &&store, &&load, &&halt};
    int a = 0;
    goto *targets[*code++];
add:
    a += *code++;
    goto *targets[*code++];
multiply:
    a *= *code++;
    goto *targets[*code++];
negate:
    a = -a;
    goto *targets[*code++];
store:
    sink = a;
    goto *targets[*code++];
load:
    a = sink;
    goto *targets[*code++];
halt:
    return a;
}

int main(int argc, char **argv)
{
    const long numbers[16] = {argc};
    const unsigned char code[] = {0, 1, 2, 3, 4, 5};
    dense(argc);
    two_in_a_row(argc, argc);
    with_offset(argc);
    with_negative_offset(argc);
    with_holes((unsigned)argc);
    of_bytes((const unsigned char *)argv[0]);
    of_signed_bytes((signed char)argc);
    of_masked((unsigned)argc);
    without_default((unsigned)argc);
    return of_long(argc) + nested(argc, argc) + (int)crowded(numbers, argc) + interpret(code);
}
