/* Waits 20 seconds of the program's time in several ways, and prints a line for each: how long that was by
 * the kernel's clock. With tests/tools/fake-time.c it is a 100th. Before that, which library comes
 * first: that tool or hpcrun's. */
#include <link.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FAKE_SECONDS 20
#define FAST         100 /* of tests/tools/fake-time.c */

static double kernel_time(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int name_library(struct dl_phdr_info *module, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (strstr(module->dlpi_name, "libhpcrun"))
        puts("hpcrun");
    if (strstr(module->dlpi_name, "fake-time"))
        puts("fake time");
    return 0;
}

static int do_sleep(void)
{
    return (int)sleep(FAKE_SECONDS);
}

static int do_nanosleep(void)
{
    struct timespec time = {FAKE_SECONDS, 0};
    return nanosleep(&time, NULL);
}

static int do_clock_nanosleep(void)
{
    struct timespec time = {FAKE_SECONDS, 0};
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int sleep_until(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += FAKE_SECONDS;
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int do_usleep(void)
{
    return usleep(FAKE_SECONDS * 1000000);
}

static int do_poll(void)
{
    return poll(NULL, 0, FAKE_SECONDS * 1000);
}

static int do_select(void)
{
    struct timeval time = {FAKE_SECONDS, 0};
    return select(0, NULL, NULL, NULL, &time);
}

static void nap(const char *name, int (*wait)(void))
{
    double begin = kernel_time();
    int result = wait();
    double took = kernel_time() - begin, right = (double)FAKE_SECONDS / FAST;
    const char *when = took < right ? "early" : took < FAKE_SECONDS / 2 ? "in time" : "late";
    printf("%s: %d, %s\n", name, result, when);
}

int main(void)
{
    dl_iterate_phdr(name_library, NULL);
    nap("sleep", do_sleep);
    nap("nanosleep", do_nanosleep);
    nap("clock_nanosleep", do_clock_nanosleep);
    nap("clock_nanosleep-until", sleep_until);
    nap("usleep", do_usleep);
    nap("poll", do_poll);
    nap("select", do_select);
    return 0;
}
