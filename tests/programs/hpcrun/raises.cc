// raises: exceptions through frames of all kinds, between two int3, at which tests/tools/unwind-steps.so begins and
// ends to unwind at every instruction. The functions call each other in the order in which they stand here, inside out.
#include <alloca.h>

static volatile int sink;

struct Guard {
    __attribute__((noinline)) ~Guard() { sink = sink + 1; }
};

extern "C" {

__attribute__((noinline)) void thrower(int n)
{
    Guard guard;
    if (n >= 0)
        throw n;
    sink = n;
}

__attribute__((noinline)) void cleaner(int n)
{
    Guard guard, another;
    thrower(n);
    sink = sink + 1;
}

// With a frame pointer, however it is compiled.
__attribute__((noinline)) void framed(int n)
{
    volatile char *bytes = static_cast<char *>(alloca(n * 16 + 16));
    bytes[0] = 1;
    Guard guard;
    cleaner(n);
    bytes[1] = 1;
}

// Is called with arguments on the stack.
__attribute__((noinline)) void passer(int n, int a, int b, int c, int d, int e, int f, int g)
{
    framed(n);
    sink = a + b + c + d + e + f + g;
}

__attribute__((noinline)) void rethrower(int n)
{
    try {
        passer(n, 1, 2, 3, 4, 5, 6, 7);
    } catch (int) {
        sink = sink + 1;
        throw;
    }
}

// Throws through frames of its own.
__attribute__((noinline)) void recursion(int n, int depth)
{
    Guard guard;
    if (depth > 0)
        recursion(n, depth - 1);
    else
        rethrower(n);
    sink = sink + 1;
}

__attribute__((noinline)) void catcher(int n)
{
    int sum = n;
    try {
        recursion(n, 2);
    } catch (int value) {
        sum += value;
    }
    sink = sum;
}
}

int main()
{
    catcher(1); // what is bound when it is called first is bound
    asm volatile("int3");
    catcher(2);
    asm volatile("int3");
    return 0;
}
