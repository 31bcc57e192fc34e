#include "hpcrun/restart/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#define SYSCALL_SIZE 2 /* of the instruction */

/* Most bytes of stack between the frame of a hook and the call that it makes through libc. A signal
 * frame is larger, so calls made in a handler are not mistaken for the one that it interrupted. */
#define LIBC_STACK 1024

static __thread struct {
    greg_t pc, sp; /* of the call that the last sample found about to restart */
    uintptr_t part;
} marked;

static bool is_lock(int command)
{
    return command == F_SETLKW || command == F_OFD_SETLKW;
}

static bool is_plain_wait(int operation)
{
    operation &= FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* Calls that wait, restart after a handler with SA_RESTART, and end with EINTR after one without.
 */
static bool is_waiting_call(const greg_t *reg)
{
    switch (reg[REG_RAX]) {
    case SYS_read:
    case SYS_readv:
    case SYS_preadv2:
    case SYS_write:
    case SYS_writev:
    case SYS_pwritev2:
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_ioctl:
    case SYS_flock:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_getrandom: return true;
    case SYS_fcntl: return is_lock((int)reg[REG_RSI]);
    case SYS_futex: return is_plain_wait((int)reg[REG_RSI]);
    default: return false;
    }
}

static bool is_restarting(const greg_t *reg)
{
    return reg[REG_RCX] == reg[REG_RIP] + SYSCALL_SIZE && is_waiting_call(reg);
}

void restart_mark(const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    if (!is_restarting(reg))
        return; /* keep the old mark: a handler that is about to be entered may need it */
    marked.pc = reg[REG_RIP];
    marked.sp = reg[REG_RSP];
}

static bool continues_part(const greg_t *reg)
{
    return marked.part - (uintptr_t)reg[REG_RSP] < LIBC_STACK;
}

void restart_before_handler(ucontext_t *context, bool restarts)
{
    greg_t *reg = context->uc_mcontext.gregs;
    if (!is_restarting(reg))
        return;
    bool ours = reg[REG_RIP] == marked.pc && reg[REG_RSP] == marked.sp;
    if (ours)
        marked.pc = 0;
    if ((ours && !restarts) || continues_part(reg)) {
        reg[REG_RAX] = -EINTR;
        reg[REG_RIP] += SYSCALL_SIZE;
    }
}

void restart_has_part(void *frame)
{
    marked.part = (uintptr_t)frame;
}
