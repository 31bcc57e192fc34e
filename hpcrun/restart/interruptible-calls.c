#include "hpcrun/restart/interruptible-calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/kvm.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef IORING_ENTER_ABS_TIMER /* Linux 6.12 */
#define IORING_ENTER_ABS_TIMER (1u << 5)
#endif
#ifndef IORING_ENTER_EXT_ARG_REG /* Linux 6.13 */
#define IORING_ENTER_EXT_ARG_REG (1u << 6)
#endif

/* Calls that the kernel restarts. */
#define RESTARTS(call)                                                                             \
    {                                                                                              \
        .number = SYS_##call, .restarts = true                                                     \
    }
#define TRANSFERS(call, where)                                                                     \
    {                                                                                              \
        .number = SYS_##call, .restarts = true, .repeats = true, .time = where                     \
    }

/* The same of calls that a file system in user space may also end. */
#define OPENS(call)                                                                                \
    {                                                                                              \
        .number = SYS_##call, .restarts = true, .repeats = true                                    \
    }

/* Calls that only such a file system ends. */
#define FILES(call)                                                                                \
    {                                                                                              \
        .number = SYS_##call, .repeats = true, .loses = true                                       \
    }

/* Calls that it does not restart. */
#define WAITS(call)                                                                                \
    {                                                                                              \
        .number = SYS_##call, .repeats = true                                                      \
    }
#define TIMED(call, kind, place)                                                                   \
    {                                                                                              \
        .number = SYS_##call, .repeats = true, .time = kind, .time_at = place                      \
    }
#define MASKED(call, kind, place, mask_kind, mask_place)                                           \
    {                                                                                              \
        .number = SYS_##call, .repeats = true, .time = kind, .time_at = place, .mask = mask_kind,  \
        .mask_at = mask_place                                                                      \
    }

/* clang-format off */
static const struct interruptible_call table[] = {
    /* data */
    TRANSFERS(read,     TIME_OF_RECEIVER),
    TRANSFERS(readv,    TIME_OF_RECEIVER),
    TRANSFERS(preadv2,  TIME_OF_RECEIVER),
    TRANSFERS(recvfrom, TIME_OF_RECEIVER),
    TRANSFERS(recvmsg,  TIME_OF_RECEIVER),
    TRANSFERS(recvmmsg, TIME_OF_RECEIVER),
    TRANSFERS(accept,   TIME_OF_RECEIVER),
    TRANSFERS(accept4,  TIME_OF_RECEIVER),
    TRANSFERS(write,    TIME_OF_SENDER),
    TRANSFERS(writev,   TIME_OF_SENDER),
    TRANSFERS(pwritev2, TIME_OF_SENDER),
    TRANSFERS(sendto,   TIME_OF_SENDER),
    TRANSFERS(sendmsg,  TIME_OF_SENDER),
    TRANSFERS(sendmmsg, TIME_OF_SENDER),
    TRANSFERS(connect,  TIME_OF_SENDER),
    TRANSFERS(sendfile, TIME_OF_SENDER),
    RESTARTS(splice), RESTARTS(tee), RESTARTS(vmsplice), RESTARTS(getrandom),
    /* files, locks, children, message queues */
    OPENS(open), OPENS(openat), OPENS(openat2), OPENS(creat), OPENS(flock), OPENS(fcntl),
    RESTARTS(ioctl), RESTARTS(wait4), RESTARTS(waitid),
    RESTARTS(mq_timedsend), RESTARTS(mq_timedreceive),
    FILES(fallocate), /* on tmpfs, too */
    FILES(stat), FILES(lstat), FILES(fstat), FILES(newfstatat), FILES(statx), FILES(statfs), FILES(fstatfs),
    FILES(access), FILES(faccessat), FILES(faccessat2), FILES(readlink), FILES(readlinkat),
    FILES(getdents), FILES(getdents64), FILES(chdir), FILES(lseek),
    FILES(pread64), FILES(preadv), FILES(pwrite64), FILES(pwritev), FILES(copy_file_range),
    FILES(fsync), FILES(fdatasync), FILES(truncate), FILES(ftruncate),
    FILES(mkdir), FILES(mkdirat), FILES(mknod), FILES(mknodat), FILES(rmdir), FILES(unlink), FILES(unlinkat),
    FILES(rename), FILES(renameat), FILES(renameat2), FILES(link), FILES(linkat),
    FILES(symlink), FILES(symlinkat),
    FILES(chmod), FILES(fchmod), FILES(fchmodat), FILES(chown), FILES(lchown), FILES(fchown), FILES(fchownat),
    FILES(utime), FILES(utimes), FILES(futimesat), FILES(utimensat),
    FILES(getxattr), FILES(lgetxattr), FILES(fgetxattr), FILES(setxattr), FILES(lsetxattr), FILES(fsetxattr),
    FILES(listxattr), FILES(llistxattr), FILES(flistxattr),
    FILES(removexattr), FILES(lremovexattr), FILES(fremovexattr),
    /* events */
    TIMED(poll,       TIME_MS,      REG_RDX),
    TIMED(epoll_wait, TIME_MS,      REG_R10),
    TIMED(select,     TIME_COUNTED, REG_R8),
    MASKED(ppoll,       TIME_COUNTED, REG_RDX, MASK_POINTER, REG_R10),
    MASKED(pselect6,    TIME_COUNTED, REG_R8,  MASK_PAIR,    REG_R9),
    MASKED(epoll_pwait, TIME_MS,      REG_R10, MASK_POINTER, REG_R8),
    MASKED(epoll_pwait2, TIME_SPEC,   REG_R10, MASK_POINTER, REG_R8),
    TIMED(io_getevents, TIME_SPEC, REG_R8),
    MASKED(io_pgetevents, TIME_SPEC, REG_R8, MASK_PAIR, REG_R9),
    MASKED(io_uring_enter, TIME_EXTENDED, REG_R8, MASK_EXTENDED, REG_R8),
    /* threads, processes */
    TIMED(futex,      TIME_SPEC, REG_R10),
    TIMED(semtimedop, TIME_SPEC, REG_R10),
    WAITS(semop), WAITS(msgsnd), WAITS(msgrcv),
    RESTARTS(futex_waitv),
    /* signals */
    WAITS(pause),
    MASKED(rt_sigsuspend, TIME_UNBOUNDED, 0, MASK_POINTER, REG_RDI),
    TIMED(rt_sigtimedwait, TIME_SPEC, REG_RDX),
    /* time */
    {.number = SYS_nanosleep, .repeats = true, .time = TIME_SLEEP, .time_at = REG_RDI,
     .rest_at = REG_RSI},
    {.number = SYS_clock_nanosleep, .repeats = true, .time = TIME_SLEEP, .time_at = REG_RDX,
     .rest_at = REG_R10},
};

/* Variants of calls, by their arguments. */
static const struct interruptible_call
    futex_forever = {.number = SYS_futex, .restarts = true},
    futex_until   = WAITS(futex),
    sleep_until   = WAITS(clock_nanosleep),
    uring_masked  = MASKED(io_uring_enter, TIME_UNBOUNDED, 0, MASK_POINTER, REG_R8),
    uring_region  = WAITS(io_uring_enter), /* time and mask are in memory that is registered */
    device_waits  = WAITS(ioctl);
/* clang-format on */

static const struct interruptible_call *if_true(bool condition,
                                                const struct interruptible_call *call)
{
    return condition ? call : NULL;
}

/* Priority-inheritance locks start again after any handler. */
static const struct interruptible_call *futex(const struct interruptible_call *call,
                                              const greg_t *reg)
{
    int operation = (int)reg[REG_RSI] & FUTEX_CMD_MASK;
    if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
        return NULL;
    return reg[REG_R10] == 0 ? &futex_forever : operation == FUTEX_WAIT ? call : &futex_until;
}

static const struct interruptible_call *uring_enter(const struct interruptible_call *call,
                                                    const greg_t *reg)
{
    unsigned flags = (unsigned)reg[REG_R10];
    if (!(flags & IORING_ENTER_GETEVENTS))
        return NULL;
    return flags & IORING_ENTER_EXT_ARG_REG ? &uring_region
           : flags & IORING_ENTER_EXT_ARG   ? call
                                            : &uring_masked;
}

/* Drivers whose calls end with EINTR after SA_RESTART, too: terminals that send their output or a
 * break, virtual processors, supervisors of a seccomp filter. */
static const struct interruptible_call *device(const struct interruptible_call *call,
                                               const greg_t *reg)
{
    switch ((unsigned)reg[REG_RSI]) {
    case TCSBRK:
    case TCSBRKP:
    case KVM_RUN:
    case SECCOMP_IOCTL_NOTIF_RECV: return &device_waits;
    default: return call;
    }
}

const struct interruptible_call *interruptible_call(long number, const greg_t *reg)
{
    const struct interruptible_call *call = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table && !call; i++)
        call = if_true(table[i].number == number, &table[i]);
    switch (call ? number : -1) {
    case SYS_futex: return futex(call, reg);
    case SYS_io_uring_enter: return uring_enter(call, reg);
    case SYS_ioctl: return device(call, reg);
    case SYS_clock_nanosleep: return reg[REG_RSI] & TIMER_ABSTIME ? &sleep_until : call;
    case SYS_fcntl:
        return if_true((int)reg[REG_RSI] == F_SETLKW || (int)reg[REG_RSI] == F_OFD_SETLKW, call);
    default: return call;
    }
}
