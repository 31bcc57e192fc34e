/* Hooks on calls that a signal handler ends with EINTR even with SA_RESTART (signal(7)). If only
 * our samples interrupted such a call, it is repeated for the rest of its time. Calls that move
 * data are in restart/transfers.c.
 *
 * If the call takes a signal mask, the program's signals are blocked between two attempts, so that
 * a signal that comes there ends the next attempt. Without a mask, such a signal ends the call only
 * at the next sample. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/restart/restart.h"
#include "hpcrun/thread/thread.h"

#include <aio.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <netdb.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

REAL_FUNCTION(clock_nanosleep)
REAL_FUNCTION(ppoll)
REAL_FUNCTION(pselect)
REAL_FUNCTION(epoll_pwait)
REAL_FUNCTION(epoll_pwait2)
REAL_FUNCTION(sem_timedwait)
REAL_FUNCTION(sem_clockwait)
REAL_FUNCTION(sem_wait)
REAL_FUNCTION(sigsuspend)
REAL_FUNCTION(sigwait)
REAL_FUNCTION(sigtimedwait)
REAL_FUNCTION(msgsnd)
REAL_FUNCTION(msgrcv)
REAL_FUNCTION(semtimedop)
REAL_FUNCTION(aio_suspend)
REAL_FUNCTION(tcdrain)
REAL_FUNCTION(gai_suspend)

/* Repeats a call that returns -1 with EINTR. The thread waits meanwhile. */
#define REPEAT(call)                                                                               \
    struct interruptions before = interruptions_now();                                             \
    struct wait wait = wait_begin(own_slot, NULL, NULL);                                           \
    __typeof__(call) result;                                                                       \
    do                                                                                             \
        result = (call);                                                                           \
    while (only_ours(result == -1 && errno == EINTR, &before));                                    \
    wait_end(&wait);                                                                               \
    return result

/* Signals that are not blocked: faults, the two that libc uses to cancel threads and change users,
 * and the sampling signal. */
static uint64_t never_blocked(void)
{
    return sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS) | sys_mask_bit(SIGILL) |
           sys_mask_bit(SIGFPE) | sys_mask_bit(32) | sys_mask_bit(33) |
           sys_mask_bit(process.signal);
}

/* Blocks the program's signals; *outside is the mask before. False if a handler of the program has
 * run since `before`: then the call is over. */
static bool block_signals(const struct interruptions *before, sigset_t *outside)
{
    sigemptyset(outside);
    outside->__val[0] = sys_mask(SIG_BLOCK, ~never_blocked());
    return thread_program_handlers == before->program;
}

static void restore_signals(const sigset_t *outside)
{
    int error = errno;
    sys_mask(SIG_SETMASK, outside->__val[0]);
    errno = error;
}

/* The same for a call with a signal mask; NULL: the thread's mask. */
#define REPEAT_WITH_MASK(mask, call)                                                               \
    struct interruptions before = interruptions_now();                                             \
    struct wait wait = wait_begin(own_slot, NULL, NULL);                                           \
    __typeof__(call) result = (call);                                                              \
    if (only_ours(result == -1 && errno == EINTR, &before)) {                                      \
        sigset_t outside;                                                                          \
        bool again = block_signals(&before, &outside);                                             \
        (mask) = (mask) ? (mask) : &outside;                                                       \
        for (; again; again = only_ours(result == -1 && errno == EINTR, &before))                  \
            result = (call);                                                                       \
        restore_signals(&outside);                                                                 \
    }                                                                                              \
    wait_end(&wait);                                                                               \
    return result

/* The end of a relative timeout. */
struct deadline {
    bool none;
    uint64_t at; /* CLOCK_MONOTONIC, ns */
};

static uint64_t to_ns(const struct timespec *time)
{
    if (time->tv_sec > INT32_MAX)
        return (uint64_t)INT32_MAX * 1000000000u;
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static struct deadline deadline_in(const struct timespec *timeout)
{
    if (!timeout)
        return (struct deadline){.none = true};
    return (struct deadline){.at = sys_clock(CLOCK_MONOTONIC) + to_ns(timeout)};
}

/* Stores the time until then in *left and returns it; NULL for no timeout. */
static struct timespec *time_left(const struct deadline *deadline, struct timespec *left)
{
    if (deadline->none)
        return NULL;
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    *left = sys_timespec(now < deadline->at ? deadline->at - now : 0);
    return left;
}

/* The same in milliseconds, rounded up; -1 for no timeout. */
static int milliseconds_left(const struct deadline *deadline)
{
    struct timespec left;
    return time_left(deadline, &left) ? (int)((to_ns(&left) + 999999) / 1000000) : -1;
}

static bool is_valid(const struct timespec *time)
{
    return !time || (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                         struct timespec *left)
{
    struct interruptions before = interruptions_now();
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    struct timespec rest = {0}, until;
    int result = REAL(clock_nanosleep)(clock, flags, wanted, &rest);
    bool repeat = only_ours(result == EINTR, &before), relative = !(flags & TIMER_ABSTIME);
    if (!relative)
        until = *wanted;
    else if (repeat) { /* from now on with a fixed end: relative rests would add up their delays */
        clock = clock == CLOCK_REALTIME ? CLOCK_MONOTONIC : clock;
        until = sys_timespec(sys_clock(clock) + to_ns(&rest));
    }
    while (repeat) {
        result = REAL(clock_nanosleep)(clock, TIMER_ABSTIME, &until, NULL);
        repeat = only_ours(result == EINTR, &before);
        uint64_t now = sys_clock(clock), end = to_ns(&until);
        rest = sys_timespec(now < end ? end - now : 0);
    }
    wait_end(&wait);
    if (result == EINTR && left && relative)
        *left = rest;
    return result;
}

HOOK int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

HOOK int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

HOOK int usleep(useconds_t microseconds)
{
    struct timespec time = sys_timespec((uint64_t)microseconds * 1000);
    return nanosleep(&time, NULL);
}

HOOK unsigned sleep(unsigned seconds)
{
    int error = errno;
    struct timespec time = {.tv_sec = seconds}, left = {0};
    if (nanosleep(&time, &left) != 0)
        return (unsigned)left.tv_sec; /* rounded down, as glibc does */
    errno = error;
    return 0;
}

HOOK int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
               const sigset_t *mask)
{
    if (!is_valid(timeout))
        return REAL(ppoll)(fds, count, timeout, mask);
    sigset_t copy;
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    mask = mask_without_sampling(mask, &copy);
    REPEAT_WITH_MASK(mask, REAL(ppoll)(fds, count, time_left(&deadline, &left), mask));
}

/* poll and ppoll in programs that are compiled with _FORTIFY_SOURCE; not declared in headers. */
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t size);
void __chk_fail(void) __attribute__((noreturn));

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                     const sigset_t *mask, size_t size)
{
    if (size / sizeof *fds < count)
        __chk_fail();
    return ppoll(fds, count, timeout, mask);
}

HOOK int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    struct timespec timeout = sys_timespec((uint64_t)milliseconds * 1000000);
    return ppoll(fds, count, milliseconds < 0 ? NULL : &timeout, NULL);
}

HOOK int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t size)
{
    if (size / sizeof *fds < count)
        __chk_fail();
    return poll(fds, count, milliseconds);
}

HOOK int pause(void)
{
    return ppoll(NULL, 0, NULL, NULL);
}

HOOK int pselect(int count, fd_set *reads, fd_set *writes, fd_set *excepts,
                 const struct timespec *timeout, const sigset_t *mask)
{
    if (!is_valid(timeout))
        return REAL(pselect)(count, reads, writes, excepts, timeout, mask);
    sigset_t copy;
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    mask = mask_without_sampling(mask, &copy);
    REPEAT_WITH_MASK(
        mask, REAL(pselect)(count, reads, writes, excepts, time_left(&deadline, &left), mask));
}

/* Linux's select leaves the rest of the time in *timeout. */
HOOK int select(int count, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
    struct timespec wanted, left;
    if (!timeout)
        return pselect(count, reads, writes, excepts, NULL, NULL);
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0) {
        errno = EINVAL;
        return -1;
    }
    wanted = (struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                               .tv_nsec = timeout->tv_usec % 1000000 * 1000};
    struct deadline deadline = deadline_in(&wanted);
    int result = pselect(count, reads, writes, excepts, &wanted, NULL);
    int error = errno;
    time_left(&deadline, &left);
    timeout->tv_sec = left.tv_sec;
    timeout->tv_usec = left.tv_nsec / 1000;
    errno = error;
    return result;
}

HOOK int epoll_pwait(int epoll, struct epoll_event *events, int count, int milliseconds,
                     const sigset_t *mask)
{
    sigset_t copy;
    struct timespec timeout = sys_timespec((uint64_t)milliseconds * 1000000);
    struct deadline deadline = deadline_in(milliseconds < 0 ? NULL : &timeout);
    mask = mask_without_sampling(mask, &copy);
    REPEAT_WITH_MASK(mask,
                     REAL(epoll_pwait)(epoll, events, count, milliseconds_left(&deadline), mask));
}

HOOK int epoll_pwait2(int epoll, struct epoll_event *events, int count,
                      const struct timespec *timeout, const sigset_t *mask)
{
    if (!is_valid(timeout))
        return REAL(epoll_pwait2)(epoll, events, count, timeout, mask);
    sigset_t copy;
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    mask = mask_without_sampling(mask, &copy);
    REPEAT_WITH_MASK(mask,
                     REAL(epoll_pwait2)(epoll, events, count, time_left(&deadline, &left), mask));
}

HOOK int epoll_wait(int epoll, struct epoll_event *events, int count, int milliseconds)
{
    return epoll_pwait(epoll, events, count, milliseconds, NULL);
}

HOOK int sem_wait(sem_t *semaphore)
{
    REPEAT(REAL(sem_wait)(semaphore));
}

HOOK int sem_timedwait(sem_t *semaphore, const struct timespec *at)
{
    REPEAT(REAL(sem_timedwait)(semaphore, at));
}

HOOK int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *at)
{
    REPEAT(REAL(sem_clockwait)(semaphore, clock, at));
}

HOOK int sigsuspend(const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    REPEAT_WITH_MASK(mask, REAL(sigsuspend)(mask));
}

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t copy;
    struct timespec left;
    if (!is_valid(timeout))
        return REAL(sigtimedwait)(set, info, timeout);
    struct deadline deadline = deadline_in(timeout);
    set = mask_without_sampling(set, &copy);
    REPEAT(REAL(sigtimedwait)(set, info, time_left(&deadline, &left)));
}

HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

/* libc's function repeats itself. */
HOOK int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    int result = REAL(sigwait)(mask_without_sampling(set, &copy), number);
    wait_end(&wait);
    return result;
}

HOOK int tcdrain(int fd)
{
    REPEAT(REAL(tcdrain)(fd));
}

HOOK int msgsnd(int queue, const void *message, size_t size, int flags)
{
    REPEAT(REAL(msgsnd)(queue, message, size, flags));
}

HOOK ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    REPEAT(REAL(msgrcv)(queue, message, size, type, flags));
}

HOOK int semtimedop(int set, struct sembuf *operations, size_t count,
                    const struct timespec *timeout)
{
    if (!is_valid(timeout))
        return REAL(semtimedop)(set, operations, count, timeout);
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    REPEAT(REAL(semtimedop)(set, operations, count, time_left(&deadline, &left)));
}

HOOK int semop(int set, struct sembuf *operations, size_t count)
{
    return semtimedop(set, operations, count, NULL);
}

HOOK int aio_suspend(const struct aiocb *const requests[], int count,
                     const struct timespec *timeout)
{
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    REPEAT(REAL(aio_suspend)(requests, count, time_left(&deadline, &left)));
}

HOOK int aio_suspend64(const struct aiocb64 *const requests[], int count,
                       const struct timespec *timeout)
{
    return aio_suspend((const struct aiocb *const *)requests, count, timeout);
}

HOOK int gai_suspend(const struct gaicb *const requests[], int count,
                     const struct timespec *timeout)
{
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    struct interruptions before = interruptions_now();
    int result;
    do
        result = REAL(gai_suspend)(requests, count, time_left(&deadline, &left));
    while (only_ours(result == EAI_INTR, &before));
    return result;
}

/* A function of libaio: the kernel's call, with a negative errno on failure. Events that were
 * received before an interruption are kept. */
int io_getevents(void *context, long least, long most, struct io_event *events,
                 struct timespec *timeout);

HOOK int io_getevents(void *context, long least, long most, struct io_event *events,
                      struct timespec *timeout)
{
    struct timespec left;
    struct deadline deadline = deadline_in(timeout);
    struct interruptions before = interruptions_now();
    long done = 0, result;
    do {
        result = sys6(SYS_io_getevents, SYS_ARG(context), least - done, most - done,
                      SYS_ARG(events + done), SYS_ARG(time_left(&deadline, &left)), 0);
        done += result > 0 ? result : 0;
    } while (only_ours(result == -EINTR || (result > 0 && done < least), &before));
    return (int)(done > 0 ? done : result);
}
