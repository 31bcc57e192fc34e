/* recursion DEPTH MS [leaf]: recurses to DEPTH again and again, working at every depth or at the
 * deepest only, until MS of CPU time are used. */
#include "burn.h"

__attribute__((noinline)) static uint64_t descend(int depth)
{
    burn_unit();
    uint64_t result = depth > 0 ? descend(depth - 1) : 0;
    burn_unit();
    return result + burn_sink;
}

__attribute__((noinline)) static uint64_t descend_to_work(int depth)
{
    if (depth == 0) {
        burn_unit();
        return burn_sink;
    }
    return descend_to_work(depth - 1) + burn_sink;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    uint64_t (*recurse)(int) = count > 3 ? descend_to_work : descend;
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(arguments[2]) * 1e6);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        recurse(atoi(arguments[1]));
    return 0;
}
