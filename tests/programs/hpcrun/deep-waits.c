/* Waits of a millisecond at the inner end of a stack of 24 KB, which has other content at each time. */
#include <string.h>
#include <time.h>

#define DEPTH 20u
#define TIMES 600u

__attribute__((noinline)) static unsigned doze(unsigned depth, unsigned turn)
{
    static const struct timespec millisecond = {.tv_nsec = 1000000};
    volatile unsigned char frame[1200];
    memset((void *)frame, (int)(turn + depth), sizeof frame);
    unsigned sum = depth == 0 ? (unsigned)nanosleep(&millisecond, NULL) : doze(depth - 1, turn);
    return sum + frame[turn % sizeof frame];
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned turn = 0; turn < TIMES; turn++)
        sum += doze(DEPTH, turn);
    return sum == 0;
}
