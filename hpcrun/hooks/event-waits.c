/* Hooks on calls that wait for events, signals, System V objects or time. While the thread waits,
 * its slot says so (logical/wait-slots.h). Masks that a call sets for its time never have the
 * sampling signal.
 *
 * Samples end most of these calls. The sample itself lets them go on (restart/ended-calls.h); only the
 * time at which a call with a timeout began is noted here. All clocks and calls are those of the
 * next library: a preloaded one may give the program another time. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/logical/semaphore-locks.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/restart/ended-calls.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/sample/wake-up-record.h"

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
REAL_FUNCTION(nanosleep)
REAL_FUNCTION(thrd_sleep)
REAL_FUNCTION(usleep)
REAL_FUNCTION(sleep)
REAL_FUNCTION(poll)
REAL_FUNCTION(ppoll)
REAL_FUNCTION(pause)
REAL_FUNCTION(select)
REAL_FUNCTION(pselect)
REAL_FUNCTION(epoll_wait)
REAL_FUNCTION(epoll_pwait)
REAL_FUNCTION(epoll_pwait2)
REAL_FUNCTION(sem_wait)
REAL_FUNCTION(sem_timedwait)
REAL_FUNCTION(sem_clockwait)
REAL_FUNCTION(sem_trywait)
REAL_FUNCTION(sem_post)
REAL_FUNCTION(sem_init)
REAL_FUNCTION(sigsuspend)
REAL_FUNCTION(sigwait)
REAL_FUNCTION(sigwaitinfo)
REAL_FUNCTION(sigtimedwait)
REAL_FUNCTION(tcdrain)
REAL_FUNCTION(msgsnd)
REAL_FUNCTION(msgrcv)
REAL_FUNCTION(semop)
REAL_FUNCTION(semtimedop)
REAL_FUNCTION(aio_suspend)
REAL_FUNCTION(gai_suspend)

/* Makes the call, and returns its result. The thread waits meanwhile. */
#define WAIT(call)                                                                                 \
    struct wait wait = wait_begin(own_slot, NULL, NULL);                                           \
    __typeof__(call) result = (call);                                                              \
    wait_end(&wait);                                                                               \
    return result

/* The same for a call with a timeout of which the kernel does not store the rest. */
#define WAIT_IN_TIME(call)                                                                         \
    struct call_start outer =                                                                      \
        call_begins(__builtin_frame_address(0), __builtin_return_address(0));                      \
    struct wait wait = wait_begin(own_slot, NULL, NULL);                                           \
    __typeof__(call) result = (call);                                                              \
    wait_end(&wait);                                                                               \
    call_ends(outer);                                                                              \
    return result

/* ---- time ----
 *
 * The kernel stores the rest of a sleep when a sample interrupts it. The program's variable must
 * change only if a handler of the program does so. */

HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                         struct timespec *left)
{
    struct timespec rest;
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    int result = REAL(clock_nanosleep)(clock, flags, wanted, &rest);
    wait_end(&wait);
    if (result == EINTR && left && !(flags & TIMER_ABSTIME))
        *left = rest;
    return result;
}

HOOK int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    struct timespec rest;
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    int result = REAL(nanosleep)(wanted, &rest);
    wait_end(&wait);
    if (result == -1 && errno == EINTR && left)
        *left = rest;
    return result;
}

HOOK int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
    struct timespec rest;
    struct wait wait = wait_begin(own_slot, NULL, NULL);
    int result = REAL(thrd_sleep)(wanted, &rest);
    wait_end(&wait);
    if (result == -1 && left)
        *left = rest;
    return result;
}

HOOK int usleep(useconds_t microseconds)
{
    WAIT_IN_TIME(REAL(usleep)(microseconds));
}

HOOK unsigned sleep(unsigned seconds)
{
    WAIT(REAL(sleep)(seconds));
}

/* ---- events ---- */

HOOK int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
               const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    WAIT(REAL(ppoll)(fds, count, timeout, mask));
}

HOOK int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    WAIT_IN_TIME(REAL(poll)(fds, count, milliseconds));
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

HOOK int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t size)
{
    if (size / sizeof *fds < count)
        __chk_fail();
    return poll(fds, count, milliseconds);
}

HOOK int pselect(int count, fd_set *reads, fd_set *writes, fd_set *excepts,
                 const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    WAIT(REAL(pselect)(count, reads, writes, excepts, timeout, mask));
}

HOOK int select(int count, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
    WAIT(REAL(select)(count, reads, writes, excepts, timeout));
}

HOOK int epoll_wait(int epoll, struct epoll_event *events, int count, int milliseconds)
{
    WAIT_IN_TIME(REAL(epoll_wait)(epoll, events, count, milliseconds));
}

HOOK int epoll_pwait(int epoll, struct epoll_event *events, int count, int milliseconds,
                     const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    WAIT_IN_TIME(REAL(epoll_pwait)(epoll, events, count, milliseconds, mask));
}

HOOK int epoll_pwait2(int epoll, struct epoll_event *events, int count,
                      const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    WAIT_IN_TIME(REAL(epoll_pwait2)(epoll, events, count, timeout, mask));
}

HOOK int tcdrain(int fd)
{
    WAIT(REAL(tcdrain)(fd));
}

HOOK int aio_suspend(const struct aiocb *const requests[], int count,
                     const struct timespec *timeout)
{
    WAIT_IN_TIME(REAL(aio_suspend)(requests, count, timeout));
}

HOOK int aio_suspend64(const struct aiocb64 *const requests[], int count,
                       const struct timespec *timeout)
{
    return aio_suspend((const struct aiocb *const *)requests, count, timeout);
}

HOOK int gai_suspend(const struct gaicb *const requests[], int count,
                     const struct timespec *timeout)
{
    WAIT_IN_TIME(REAL(gai_suspend)(requests, count, timeout));
}

/* A function of libaio: the kernel's call, with a negative errno on failure. */
int io_getevents(void *context, long least, long most, struct io_event *events,
                 struct timespec *timeout);

HOOK int io_getevents(void *context, long least, long most, struct io_event *events,
                      struct timespec *timeout)
{
    WAIT_IN_TIME((int)sys6(SYS_io_getevents, SYS_ARG(context), least, most, SYS_ARG(events),
                           SYS_ARG(timeout), 0));
}

/* ---- semaphores, messages ---- */

#define LOOK(field) atomic_load_explicit(&(field), memory_order_relaxed)

/* glibc's value is in the lower half, the number of those who wait in the upper one. */
static uint64_t look_at(const sem_t *semaphore)
{
    return __atomic_load_n((const uint64_t *)(const void *)semaphore, __ATOMIC_RELAXED);
}

/* A lock that the calling thread waits for; NULL: none. agent_slot.lock and .holder. */
struct waited_lock {
    const void *lock, *holder;
};

/* Inside CPython, a thread waits for another one with a semaphore on its own stack. Such a semaphore is no lock. */
static bool is_on_own_stack(const void *semaphore)
{
    const struct agent_slot *slot = own_slot;
    uint64_t at = (uint64_t)(uintptr_t)semaphore;
    return slot && at >= LOOK(slot->stack_low) && at < LOOK(slot->stack_high);
}

/* The lock of an object that a thread of the interpreter waits for by a semaphore on its stack (struct agent_lock). Other
 * waits of its code have other words before the semaphore: no address above it, or one of no such byte. */
static struct waited_lock object_lock(const sem_t *semaphore)
{
    const struct agent_lock *kind = atomic_load_explicit(&agent_lock, memory_order_acquire);
    struct {
        uint64_t waiter;
        const uint8_t *lock;
    } const *before = (const void *)((const char *)semaphore - sizeof *before);
    if (!kind || !kind->byte_name || !is_on_own_stack(before) || !is_on_own_stack(semaphore))
        return (struct waited_lock){0};
    bool is_waiter = before->waiter > (uint64_t)(uintptr_t)semaphore && before->waiter < LOOK(own_slot->stack_high);
    if (!is_waiter || !before->lock ||
        (__atomic_load_n(before->lock, __ATOMIC_RELAXED) & BYTE_IS_WAITED_FOR) != BYTE_IS_WAITED_FOR)
        return (struct waited_lock){0};
    return (struct waited_lock){before->lock, (const void *)(AGENT_HOLDER_OF_BYTE | (uint64_t)(uintptr_t)kind)};
}

static struct waited_lock waited_lock(const sem_t *semaphore)
{
    const void *holder = semaphore_holder(semaphore);
    return holder ? (struct waited_lock){semaphore, holder} : object_lock(semaphore);
}

/* A free semaphore is taken without a wait, and without a look at the time. */
#define WAIT_FOR(semaphore, call)                                                                  \
    uint64_t since = (uint32_t)look_at(semaphore) ? 0 : ticks_now();                               \
    bool may_be_lock = agent_lock_is_user(__builtin_return_address(0));                            \
    struct waited_lock for_lock = {0};                                                             \
    if (may_be_lock)                                                                               \
        for_lock = waited_lock(semaphore);                                                         \
    struct wait wait = wait_begin(own_slot, for_lock.lock, for_lock.holder);                       \
    int result = (call);                                                                           \
    wait_end(&wait);                                                                               \
    if (may_be_lock && result == 0 && !is_on_own_stack(semaphore))                                 \
        semaphore_taken(semaphore);                                                                \
    if (since)                                                                                     \
        wake_up(semaphore, since, result == 0);                                                    \
    if (for_lock.lock && atomic_load_explicit(&own_slot->is_charged, memory_order_relaxed))        \
        semaphore_wait_record(own_slot, for_lock.lock, for_lock.lock == semaphore);                \
    return result

HOOK int sem_wait(sem_t *semaphore)
{
    WAIT_FOR(semaphore, REAL(sem_wait)(semaphore));
}

HOOK int sem_timedwait(sem_t *semaphore, const struct timespec *at)
{
    WAIT_FOR(semaphore, REAL(sem_timedwait)(semaphore, at));
}

HOOK int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *at)
{
    WAIT_FOR(semaphore, REAL(sem_clockwait)(semaphore, clock, at));
}

HOOK int sem_trywait(sem_t *semaphore)
{
    if (!agent_lock_is_user(__builtin_return_address(0)))
        return REAL(sem_trywait)(semaphore);
    int result = REAL(sem_trywait)(semaphore);
    if (result == 0)
        semaphore_taken(semaphore);
    return result;
}

HOOK int sem_post(sem_t *semaphore)
{
    if (agent_lock_is_user(__builtin_return_address(0)))
        semaphore_released(semaphore);
    if (look_at(semaphore) >> 32)
        waker_note(semaphore, WAKES_ONE);
    return REAL(sem_post)(semaphore);
}

HOOK int sem_init(sem_t *semaphore, int is_shared, unsigned value)
{
    if (agent_lock_is_user(__builtin_return_address(0)))
        semaphore_begins(semaphore);
    return REAL(sem_init)(semaphore, is_shared, value);
}

HOOK int msgsnd(int queue, const void *message, size_t size, int flags)
{
    WAIT(REAL(msgsnd)(queue, message, size, flags));
}

HOOK ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    WAIT(REAL(msgrcv)(queue, message, size, type, flags));
}

HOOK int semop(int set, struct sembuf *operations, size_t count)
{
    WAIT(REAL(semop)(set, operations, count));
}

HOOK int semtimedop(int set, struct sembuf *operations, size_t count,
                    const struct timespec *timeout)
{
    WAIT_IN_TIME(REAL(semtimedop)(set, operations, count, timeout));
}

/* ---- signals ---- */

HOOK int pause(void)
{
    WAIT(REAL(pause)());
}

HOOK int sigsuspend(const sigset_t *mask)
{
    sigset_t copy;
    mask = mask_without_sampling(mask, &copy);
    WAIT(REAL(sigsuspend)(mask));
}

HOOK int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;
    set = mask_without_sampling(set, &copy);
    WAIT(REAL(sigwait)(set, number));
}

HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t copy;
    set = mask_without_sampling(set, &copy);
    WAIT(REAL(sigwaitinfo)(set, info));
}

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t copy;
    set = mask_without_sampling(set, &copy);
    WAIT_IN_TIME(REAL(sigtimedwait)(set, info, timeout));
}
