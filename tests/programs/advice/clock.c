/* The main loop asks for the time, which the vdso knows. Usage: clock [ROUNDS] */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    long sum = 0;
    struct timespec now;
    for (long k = 0; k < (argc > 1 ? atol(argv[1]) : 10) * 1000000; k++) { /* MARK loop */
        clock_gettime(CLOCK_MONOTONIC, &now);
        sum += now.tv_nsec;
    }
    return sum == 0;
}
