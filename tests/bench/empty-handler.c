/* Preloaded into a program: the main thread gets EMPTY_HANDLER_RATE signals per second and does
 * nothing with them. They come from perf's task clock or, with EMPTY_HANDLER_TIMER, from a timer on
 * the wall clock. What that costs is the kernel's and the machine's, and the floor for every
 * profiler that samples by signals. The number of signals goes to the file EMPTY_HANDLER_OUT at the
 * end of the program. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal)
{
    (void)signal;
    signals++;
}

static void fail(const char *what)
{
    perror(what);
    _exit(EXIT_FAILURE);
}

static void begin_perf(int signal, long period)
{
    struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof clock,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .sample_period = (uint64_t)period,
                                    .wakeup_events = 1};
    int fd = (int)syscall(SYS_perf_event_open, &clock, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        fail("perf_event_open");
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0 ||
        fcntl(fd, F_SETFL, O_ASYNC) < 0)
        fail("fcntl");
}

static void begin_timer(int signal, long period)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
    event._sigev_un._tid = gettid();
    struct itimerspec each = {{0, period}, {0, period}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &each, NULL) != 0)
        fail("timer");
}

__attribute__((constructor)) static void begin(void)
{
    const char *rate = getenv("EMPTY_HANDLER_RATE");
    if (!rate)
        return;
    int signal = SIGRTMIN + 9;
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(signal, &action, NULL);
    (getenv("EMPTY_HANDLER_TIMER") ? begin_timer : begin_perf)(signal, 1000000000 / atoi(rate));
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("EMPTY_HANDLER_OUT");
    FILE *out = name ? fopen(name, "w") : NULL;
    if (!out)
        return;
    fprintf(out, "%ld\n", (long)signals);
    fclose(out);
}
