/* context_switches: switches between stacks by swapcontext and setcontext, between two int3. The
 * frames of a fiber are found by rsp, or by rbp if its size is not known to the compiler. */
#include <alloca.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define STACK    65536
#define SWITCHES 5

static ucontext_t outside, fiber;
static volatile uint64_t sink;
static volatile size_t unknown = 100;

__attribute__((noinline)) static void yield(void)
{
    swapcontext(&fiber, &outside);
    sink++;
}

__attribute__((noinline)) static void by_rbp(void)
{
    char *block = alloca(unknown);
    memset(block, 1, unknown);
    yield();
    sink += (uint64_t)block[unknown - 1];
}

__attribute__((noinline)) static void fiber_main(void)
{
    for (int i = 0; i < SWITCHES; i++) {
        yield();
        by_rbp();
    }
    setcontext(&outside);
    __asm__ volatile(""); /* the call is no jump: this frame stays */
}

__attribute__((noinline)) static void resume(void)
{
    swapcontext(&outside, &fiber);
    sink++;
}

int main(void)
{
    static char stack[STACK];
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof stack;
    makecontext(&fiber, fiber_main, 0);
    __asm__ volatile("int3");
    for (int i = 0; i < 2 * SWITCHES + 1; i++)
        resume();
    __asm__ volatile("int3");
    return 0;
}
