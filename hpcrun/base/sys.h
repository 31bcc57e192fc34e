/* Signal handler: everything here may be used there.
 *
 * Direct system calls: they bypass functions that the program interposes and libc's locks and
 * cancellation points, and leave errno as it is. All return the kernel's result: a negative errno
 * on failure. */
#ifndef HPCRUN_BASE_SYS_H
#define HPCRUN_BASE_SYS_H

#include "hpcrun/base/system-call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#define SYS_ARG(x)          ((long)(x))
#define sys0(n)             sys6(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a)          sys6(n, SYS_ARG(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b)       sys6(n, SYS_ARG(a), SYS_ARG(b), 0, 0, 0, 0)
#define sys3(n, a, b, c)    sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)

#define SYSCALL_SIZE 2 /* bytes of the instruction */

/* Maps zeroed pages, at address `at` if nothing is mapped there; NULL without memory. */
static inline void *sys_map(uint64_t at, size_t size)
{
    long block = sys6(SYS_mmap, SYS_ARG(at), SYS_ARG(size), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block < 0 && block > -4096 ? NULL : (void *)block;
}

static inline void sys_unmap(void *block, size_t size)
{
    sys2(SYS_munmap, block, size);
}

/* Maps zeroed pages away from the program's mappings (own-pages.c); NULL without memory. A page
 * takes memory only once it is touched. */
void *sys_pages(size_t size);
void sys_pages_free(void *block, size_t size);

static inline int sys_getpid(void)
{
    return (int)sys0(SYS_getpid);
}

static inline int sys_gettid(void)
{
    return (int)sys0(SYS_gettid);
}

/* The CPU clock of any thread of the process. The kernel encodes the thread id in the clock id. */
static inline clockid_t sys_thread_clock(int tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

/* The time of a clock in nanoseconds; 0 if the kernel refuses it. */
static inline uint64_t sys_clock(clockid_t clock)
{
    struct timespec now;
    if (sys2(SYS_clock_gettime, clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct timespec sys_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* The bit of a signal in the kernel's signal set. */
static inline uint64_t sys_mask_bit(int signal)
{
    return (uint64_t)1 << (signal - 1);
}

/* Changes the thread's mask; returns the old one. */
static inline uint64_t sys_mask(int how, uint64_t set)
{
    uint64_t old = 0;
    sys4(SYS_rt_sigprocmask, how, &set, &old, sizeof old);
    return old;
}

/* The kernel's struct sigaction; libc's has another layout. */
struct sys_sigaction {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

static inline long sys_sigaction(int signal, const struct sys_sigaction *action,
                                 struct sys_sigaction *old)
{
    return sys4(SYS_rt_sigaction, signal, action, old, sizeof(uint64_t));
}

/* Removes the pending signals of a set, which must be blocked, from this thread and its process. */
static inline void sys_take_pending(uint64_t set)
{
    const struct timespec now = {0};
    while (sys4(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof set) > 0)
        continue;
}

static inline long sys_write_pieces(int fd, const char *at, size_t size)
{
    while (size > 0) {
        long done = sys3(SYS_write, fd, at, size);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? done : -EIO;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

/* The same of two pieces that lie apart, in one write if possible. */
static inline long sys_write_two_pieces(int fd, const char *first, size_t first_size,
                                        const char *second, size_t second_size)
{
    const struct iovec both[] = {{(void *)(uintptr_t)first, first_size},
                                 {(void *)(uintptr_t)second, second_size}};
    long done;
    while ((done = sys3(SYS_writev, fd, both, 2)) == -EINTR)
        continue;
    if (done < 0)
        return done;
    size_t of_first = (size_t)done < first_size ? (size_t)done : first_size;
    size_t of_second = (size_t)done - of_first;
    long error = sys_write_pieces(fd, first + of_first, first_size - of_first);
    return error ? error : sys_write_pieces(fd, second + of_second, second_size - of_second);
}

/* Writes everything, `head` first, which may be empty; returns 0, or a negative errno if a part could
 * not be written. Two errors come with a signal that would end the program: SIGPIPE for a closed pipe,
 * SIGXFSZ for a file that would grow beyond RLIMIT_FSIZE. These signals are removed. */
static inline long sys_write_all_two(int fd, const void *head, size_t head_size, const void *data,
                                     size_t size)
{
    uint64_t ours = sys_mask_bit(SIGPIPE) | sys_mask_bit(SIGXFSZ), pending = 0;
    uint64_t mask = sys_mask(SIG_BLOCK, ours);
    sys2(SYS_rt_sigpending, &pending, sizeof pending);
    long error = head_size ? sys_write_two_pieces(fd, head, head_size, data, size)
                           : sys_write_pieces(fd, data, size);
    if (error == -EPIPE || error == -EFBIG)
        sys_take_pending(ours & ~pending);
    sys_mask(SIG_SETMASK, mask);
    return error;
}

static inline long sys_write_all(int fd, const void *data, size_t size)
{
    return sys_write_all_two(fd, NULL, 0, data, size);
}

#endif
