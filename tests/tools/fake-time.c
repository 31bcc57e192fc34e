/* Preloaded into a program, gives it another time, as libfaketime does: the clocks began FAST times as
 * long ago as the kernel's did, and run FAST times as fast. Waits are as much shorter. */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define FAST   100
#define SECOND 1000000000

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct timespec scaled(const struct timespec *time, unsigned times, unsigned parts)
{
    unsigned __int128 ns = (unsigned __int128)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
    ns = ns * times / parts;
    return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
}

static void give_back(struct timespec *left, const struct timespec *real)
{
    if (left)
        *left = scaled(real, FAST, 1);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    struct timespec now;
    int result = REAL(clock_gettime)(clock, &now);
    if (result == 0)
        *time = scaled(&now, FAST, 1);
    return result;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    struct timespec real = scaled(wanted, 1, FAST), rest = {0};
    int result = REAL(nanosleep)(&real, &rest);
    if (result != 0)
        give_back(left, &rest);
    return result;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
    struct timespec real = scaled(wanted, 1, FAST), rest = {0};
    int result = REAL(clock_nanosleep)(clock, flags, &real, &rest);
    if (result != 0)
        give_back(left, &rest);
    return result;
}

unsigned sleep(unsigned seconds)
{
    struct timespec time = {seconds, 0}, left = {0, 0};
    return nanosleep(&time, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

int usleep(useconds_t microseconds)
{
    return REAL(usleep)(microseconds / FAST);
}

int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    return REAL(poll)(fds, count, milliseconds / FAST);
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
    struct timespec time = {timeout->tv_sec, timeout->tv_usec * 1000},
                    real = scaled(&time, 1, FAST);
    struct timeval left = {real.tv_sec, real.tv_nsec / 1000};
    int result = REAL(select)(count, reads, writes, excepts, &left);
    time = (struct timespec){left.tv_sec, left.tv_usec * 1000};
    give_back(&real, &time);
    *timeout = (struct timeval){real.tv_sec, real.tv_nsec / 1000};
    return result;
}
