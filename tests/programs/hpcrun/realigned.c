/* realigned: functions that realign their stack, below functions that find their callers by rbp. gcc keeps
 * the old stack pointer in r10 then, and its unwind information does not follow the end of such a
 * function. Between two int3. */
#include <alloca.h>
#include <string.h>

static volatile int sink;
static volatile size_t some = 100;

__attribute__((noinline)) static void leaf(volatile int *a)
{
    sink += *a;
}

/* Its last arguments are on the stack, where they are found by the old stack pointer. */
__attribute__((noinline)) static int realigned(int a, int b, int c, int d, int e, int f, int g, int h)
{
    volatile int local[32] __attribute__((aligned(64)));
    for (int i = 0; i < 32; i++)
        local[i] = a + b * i + g;
    char *block = alloca(some);
    memset(block, e, some);
    leaf(local + (c & 31));
    return local[d & 31] + f + h + block[some - 1];
}

/* The compiler does not know what is called, and with which arguments. */
static int (*volatile call)(int, int, int, int, int, int, int, int) = realigned;

__attribute__((noinline)) static int by_rbp(size_t size)
{
    char *block = alloca(size);
    memset(block, 1, size);
    int result = call(1, 2, 3, 4, 5, 6, 7, 8);
    return result + block[size - 1];
}

__attribute__((noinline)) static int outer(size_t size)
{
    char *block = alloca(size);
    memset(block, 1, size);
    int result = by_rbp(size + 8);
    return result + block[size - 1];
}

int main(void)
{
    sink += outer(some); /* the first calls are bound */
    __asm__ volatile("int3");
    for (int i = 0; i < 3; i++)
        sink += outer(some);
    __asm__ volatile("int3");
    return 0;
}
