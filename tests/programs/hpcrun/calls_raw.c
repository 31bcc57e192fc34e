/* calls_raw: system calls that the kernel does not restart, without libc's functions for them (raw-calls.h);
 * see interrupted-calls.h. Here: events, time, threads, signals and memory. */
#include "raw-calls.h"

#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>

/* ---- events ---- */

CALL(do_poll)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return RAW6(SYS_poll, &at, 1, -1, 0, 0, 0);
}

CALL(do_poll_in_time)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return RAW6(SYS_poll, &at, 1, wait_ms, 0, 0, 0);
}

static bool is_left(const struct timespec *time)
{
    return time->tv_sec || time->tv_nsec;
}

/* The system call leaves the rest of the time. */
static long rest_result(long result, const struct timespec *time)
{
    return is_left(time) == (result == -1) ? result : -2;
}

CALL(do_ppoll_in_time)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t none;
    sigemptyset(&none);
    return rest_result(RAW6(SYS_ppoll, NULL, 0, &time, &none, 8, 0), &time);
}

/* A time in memory that nobody can write to. */
static struct timespec *read_only_time(void)
{
    static struct timespec *page;
    if (!page)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    *page = in_ms(wait_ms);
    mprotect(page, 4096, PROT_READ);
    return page;
}

CALL(do_ppoll_read_only)
{
    const struct timespec *time = read_only_time();
    return RAW6(SYS_ppoll, NULL, 0, time, NULL, 0, 0);
}

CALL(do_select_in_time)
{
    struct timespec time = in_ms(wait_ms);
    time.tv_nsec /= 1000; /* a struct timeval */
    return rest_result(RAW6(SYS_select, 0, NULL, NULL, NULL, &time, 0), &time);
}

CALL(do_pselect_in_time)
{
    struct timespec time = in_ms(wait_ms);
    uint64_t none = 0, mask[2] = {(uint64_t)(uintptr_t)&none, 8};
    return rest_result(RAW6(SYS_pselect6, 0, NULL, NULL, NULL, &time, mask), &time);
}

static void prepare_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    prepare_pipe();
    fds[2] = (int)must(epoll_create1(EPOLL_CLOEXEC));
    must(epoll_ctl(fds[2], EPOLL_CTL_ADD, fds[0], &event));
}

CALL(do_epoll_wait)
{
    struct epoll_event event;
    return RAW6(SYS_epoll_wait, fds[2], &event, 1, -1, 0, 0);
}

CALL(do_epoll_pwait_in_time)
{
    struct epoll_event event;
    return RAW6(SYS_epoll_pwait, fds[2], &event, 1, wait_ms, NULL, 8);
}

CALL(do_epoll_pwait2_in_time)
{
    struct epoll_event event;
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_epoll_pwait2, fds[2], &event, 1, &time, NULL, 8);
}

/* ---- time ---- */

CALL(do_nanosleep)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_nanosleep, &time, NULL, 0, 0, 0, 0);
}

CALL(do_nanosleep_rest)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    long result = RAW6(SYS_nanosleep, &time, &left, 0, 0, 0, 0);
    return result == -1 && !is_left(&left) ? -2 : result;
}

CALL(do_clock_nanosleep)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, &time, NULL, 0, 0);
}

CALL(do_clock_nanosleep_until)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return RAW6(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL, 0, 0);
}

/* ---- threads ---- */

static _Atomic int word;

static void clear_word(void)
{
    word = 0;
}

static void wake(void)
{
    word = 1;
    while (!round_.returned) {
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        sched_yield();
    }
}

/* Woken, or too late to be woken: both are right. */
static long woken(long result)
{
    return result == -1 && errno == EAGAIN ? 0 : result;
}

CALL(do_futex)
{
    return woken(RAW6(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}

CALL(do_futex_in_time)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

CALL(do_futex_until)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return RAW6(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &time, NULL,
                FUTEX_BITSET_MATCH_ANY);
}

/* ---- signals: SIGUSR2, which is blocked except in some calls ---- */

static uint64_t usr2(void)
{
    return (uint64_t)1 << (SIGUSR2 - 1);
}

static void block_usr2(void)
{
    uint64_t set = usr2();
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
    signal(SIGUSR2, count_signal);
}

static void send_usr2_alone(void)
{
    if (mode == SAMPLES)
        pthread_kill(caller, SIGUSR2);
}

CALL(do_pause)
{
    uint64_t set = usr2();
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    return RAW6(SYS_pause, 0, 0, 0, 0, 0, 0);
}

CALL(do_sigsuspend)
{
    uint64_t none = 0;
    return RAW6(SYS_rt_sigsuspend, &none, 8, 0, 0, 0, 0);
}

CALL(do_sigtimedwait)
{
    struct timespec time = in_ms(wait_ms);
    uint64_t set = usr2();
    return RAW6(SYS_rt_sigtimedwait, &set, NULL, &time, 8, 0, 0);
}

/* A signal that only the call blocks comes at its end. */
static _Atomic bool may_end, came_early;

static void note_when(int number)
{
    (void)number;
    came_early = came_early || !may_end;
}

static void send_blocked(void)
{
    pthread_kill(caller, SIGUSR2);
    expose();
    may_end = true;
    put_byte();
}

static void prepare_blocked(void)
{
    prepare_pipe();
    signal(SIGUSR2, note_when);
    may_end = came_early = false;
}

/* Afterwards the thread has its own mask again. */
CALL(do_blocked)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    struct timespec time = in_ms(LONG_MS);
    uint64_t set = usr2(), after = 0;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    long result = RAW6(SYS_ppoll, &at, 1, &time, &set, 8, 0);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &after, 8);
    return came_early ? -2 : after & set ? -3 : result;
}

/* ---- memory: a large file in tmpfs, of which a signal undoes all ---- */

#define LARGE (64 << 20)

static void prepare_memory_file(void)
{
    fds[0] = (int)must(memfd_create("large", MFD_CLOEXEC));
}

CALL(do_fallocate)
{
    return RAW6(SYS_fallocate, fds[0], 0, 0, LARGE, 0, 0);
}

static const struct call calls[] = {
    BOTH("poll", prepare_pipe, do_poll, put_byte, 0, false),
    BOTH("poll-in-time", prepare_pipe, do_poll_in_time, NULL, 0, true),
    BOTH("ppoll-in-time", NULL, do_ppoll_in_time, NULL, 0, true),
    BOTH("ppoll-read-only", NULL, do_ppoll_read_only, NULL, 0, true),
    BOTH("select-in-time", NULL, do_select_in_time, NULL, 0, true),
    BOTH("pselect-in-time", NULL, do_pselect_in_time, NULL, 0, true),
    BOTH("epoll_wait", prepare_epoll, do_epoll_wait, put_byte, 0, false),
    BOTH("epoll_pwait-in-time", prepare_epoll, do_epoll_pwait_in_time, NULL, 0, true),
    BOTH("epoll_pwait2-in-time", prepare_epoll, do_epoll_pwait2_in_time, NULL, 0, true),
    BOTH("nanosleep", NULL, do_nanosleep, NULL, 0, true),
    BOTH("nanosleep-rest", NULL, do_nanosleep_rest, NULL, 0, true),
    BOTH("clock_nanosleep", NULL, do_clock_nanosleep, NULL, 0, true),
    BOTH("clock_nanosleep-until", NULL, do_clock_nanosleep_until, NULL, 0, true),
    BOTH("futex", clear_word, do_futex, wake, SAMPLES | HANDLER, false),
    BOTH("futex-in-time", clear_word, do_futex_in_time, NULL, 0, true),
    BOTH("futex-until", clear_word, do_futex_until, NULL, 0, true),
    BOTH("pause", block_usr2, do_pause, send_usr2_alone, 0, false),
    BOTH("sigsuspend", block_usr2, do_sigsuspend, send_usr2_alone, 0, false),
    BOTH("sigtimedwait", block_usr2, do_sigtimedwait, NULL, 0, true),
    BOTH("blocked-signal", prepare_blocked, do_blocked, send_blocked, SAMPLES, false),
    BOTH("fallocate", prepare_memory_file, do_fallocate, NULL, SAMPLES, false),
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
