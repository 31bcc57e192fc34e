/* Hook on syscall, by which programs make calls that have a function in libc, too: libseccomp
 * restricts them, Chromium's children set all signals to their defaults, the sampling signal with
 * them, which would end them. A signal's action is set as by sigaction.
 *
 * It is a jump: what is asked for may be a fork that goes on on this stack. */
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/push-pop.h"
#include "hpcrun/hooks/real.h"
#include "hpcrun/hooks/seccomp.h"
#include "hpcrun/process/process.h"

#include <unistd.h>

REAL_FUNCTION(syscall)

/* libc keeps the two signals below the real-time ones to itself, and its sigaction refuses them. */
static bool is_libc_s(int signal)
{
    return signal >= 32 && signal < SIGRTMIN;
}

static struct sigaction from_kernel(const struct sys_sigaction *action)
{
    struct sigaction result = {.sa_flags = (int)action->flags, .sa_mask = {{action->mask}}};
    result.sa_handler = (sighandler_t)action->handler;
    *(void **)&result.sa_restorer = action->restorer;
    return result;
}

static struct sys_sigaction to_kernel(const struct sigaction *action)
{
    return (struct sys_sigaction){.handler = (void *)action->sa_handler,
                                  .flags = (unsigned)action->sa_flags,
                                  .restorer = (void *)action->sa_restorer,
                                  .mask = action->sa_mask.__val[0]};
}

/* In the place of syscall(SYS_rt_sigaction, ...). */
static long set_action(long number, int signal, const struct sys_sigaction *action,
                       struct sys_sigaction *old, size_t mask_size)
{
    struct sigaction wanted, before;
    if (mask_size != sizeof action->mask || is_libc_s(signal))
        return REAL(syscall)(number, signal, action, old, mask_size);
    if (action)
        wanted = from_kernel(action);
    int result = sigaction(signal, action ? &wanted : NULL, &before);
    if (result == 0 && old)
        *old = to_kernel(&before);
    return result;
}

/* Returns what is to go on with the arguments. */
void *syscall_enter(long number, long a, long b, long c) __attribute__((visibility("hidden")));
void *syscall_enter(long number, long a, long b, long c)
{
    (void)b;
    if (number == SYS_rt_sigaction && process.active)
        return (void *)(uintptr_t)set_action;
    if (number == SYS_seccomp)
        seccomp_before_call((unsigned)a, (const struct sock_fprog *)c);
    return (void *)(uintptr_t)REAL(syscall);
}

/* clang-format off */
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        PUSH(rdi) PUSH(rsi) PUSH(rdx) PUSH(rcx) PUSH(r8) PUSH(r9)
        PUSH(r10) /* aligns the stack */
        "    call syscall_enter\n"
        POP(r10) POP(r9) POP(r8) POP(rcx) POP(rdx) POP(rsi) POP(rdi)
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size syscall, .-syscall\n");
/* clang-format on */
