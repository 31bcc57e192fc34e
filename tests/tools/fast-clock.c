/* Preloaded into a program, makes its monotonic clock run FAST times as fast: what happens only
 * when something takes long happens soon. */
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define FAST   1000000
#define SECOND 1000000000

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_MONOTONIC) {
        unsigned __int128 now = (unsigned __int128)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
        now *= FAST;
        time->tv_sec = (time_t)(now / SECOND);
        time->tv_nsec = (long)(now % SECOND);
    }
    return result;
}
