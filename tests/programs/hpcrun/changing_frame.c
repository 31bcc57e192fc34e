/* changing_frame QUIET BUSY: a function with a frame larger than any copy of a stack calls another QUIET + BUSY times, for 5 ms
 * of CPU time each, which in the last BUSY calls writes to all of the frame. */
#include "burn.h"

#define FRAME_BYTES (200u << 10)
#define CALL_NS     5000000u

__attribute__((noinline)) static uint64_t fill(char *frame, bool writes)
{
    uint64_t turns = 0, end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + CALL_NS;
    for (; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end; turns++)
        if (writes)
            memset(frame, (int)turns, FRAME_BYTES);
        else
            burn_unit();
    return turns;
}

__attribute__((noinline)) static uint64_t call_with_frame(int quiet, int busy)
{
    char frame[FRAME_BYTES] = "";
    uint64_t turns = 0;
    for (int i = 0; i < quiet + busy; i++)
        turns += fill(frame, i >= quiet);
    return turns;
}

int main(int count, char **arguments)
{
    return count < 3 || call_with_frame(atoi(arguments[1]), atoi(arguments[2])) == 0;
}
