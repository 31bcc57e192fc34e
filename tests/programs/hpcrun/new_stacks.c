/* new_stacks TIMES: functions that call each other in another order each time, on a stack of 80 to 100 KB. No frame of
 * it is where one of the time before was, and all have returned after a few microseconds. */
#include "burn.h"

#define LEVELS 120

static uint64_t descend(unsigned levels, uint64_t order);

__attribute__((noinline)) static uint64_t in_small_frame(unsigned levels, uint64_t order)
{
    volatile char frame[496];
    frame[levels] = (char)order;
    return descend(levels, order) + (uint64_t)frame[levels];
}

__attribute__((noinline)) static uint64_t in_large_frame(unsigned levels, uint64_t order)
{
    volatile char frame[912];
    frame[levels] = (char)order;
    return descend(levels, order) + (uint64_t)frame[levels];
}

static uint64_t descend(unsigned levels, uint64_t order)
{
    if (levels == 0) {
        burn_unit();
        return order;
    }
    uint64_t next = order * 6364136223846793005u + 1442695040888963407u;
    return next >> 63 ? in_small_frame(levels - 1, next) : in_large_frame(levels - 1, next);
}

int main(int count, char **arguments)
{
    uint64_t sum = 0;
    for (int i = count > 1 ? atoi(arguments[1]) : 0; i > 0; i--)
        sum += descend(LEVELS, (uint64_t)i);
    return sum == 0;
}
