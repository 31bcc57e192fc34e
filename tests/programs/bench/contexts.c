/* Coroutines for the benchmarks: eight stacks that switch to the next one about every microsecond.
 *
 * usage: contexts SWITCHES */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define COROUTINES  8
#define STACK_BYTES (64 << 10)

static ucontext_t contexts[COROUTINES], finished;
static volatile uint64_t sums[COROUTINES];
static long turns; /* switches of each coroutine */

static uint64_t mix(uint64_t x, int depth)
{
    for (int i = 0; i < 40; i++)
        x = x * 6364136223846793005u + (x >> 33);
    return depth ? mix(x, depth - 1) + 1 : x;
}

static void coroutine(int index)
{
    for (long turn = 0; turn < turns; turn++) {
        sums[index] += mix((uint64_t)turn, 10);
        swapcontext(&contexts[index], &contexts[(index + 1) % COROUTINES]);
    }
}

int main(int argc, char **argv)
{
    turns = (argc > 1 ? atol(argv[1]) : 1000000) / COROUTINES;
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = &finished;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    swapcontext(&finished, &contexts[0]);
    return 0;
}
