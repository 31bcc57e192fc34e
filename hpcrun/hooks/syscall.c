/* Hooks on prctl and syscall.
 *
 * A program restricts its own system calls by prctl, or by syscall(SYS_seccomp), as libseccomp
 * does. A sample that makes a forbidden call would end the program. So when the program forbids a
 * call that hpcrun needs (hooks/seccomp-filter.c), hpcrun writes what was measured and withdraws
 * (process_withdraw). It also withdraws when the program has its system calls sent back to itself
 * as signals (user dispatch). A program that may not read the time stamp counter is measured
 * without.
 *
 * Programs also set signal actions through syscall: Chromium's children set all of them to their
 * defaults. That would include the sampling signal, whose default ends the process. So
 * syscall(SYS_rt_sigaction) becomes a call of our sigaction. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/seccomp-filter.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- restrictions of system calls ---- */

REAL_FUNCTION(prctl)

static bool is_measured(void)
{
    return process.active && process_is_ours();
}

static void withdraw(const char *why)
{
    process_withdraw(why);
    signals_give_back();
}

static void before_filter(const struct sock_fprog *filter)
{
    process.restricted = true;
    if (is_measured() && (!filter || !seccomp_lets_us_work(filter)))
        withdraw("the program restricts its system calls (seccomp)");
}

static void before_dispatch(void)
{
    if (is_measured())
        withdraw("the program has its system calls sent to itself (user dispatch)");
}

/* Libraries ask with a NULL filter what the kernel can do. */
static void before_filter_if_any(const struct sock_fprog *filter)
{
    if (filter)
        before_filter(filter);
}

HOOK int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_SECCOMP && argument[0] == SECCOMP_MODE_STRICT)
        before_filter(NULL);
    if (option == PR_SET_SECCOMP && argument[0] == SECCOMP_MODE_FILTER)
        before_filter_if_any((const struct sock_fprog *)argument[1]);
    if (option == PR_SET_SYSCALL_USER_DISPATCH && argument[0] == PR_SYS_DISPATCH_ON)
        before_dispatch();
    if (option == PR_SET_TSC && argument[0] == PR_TSC_SIGSEGV)
        atomic_store(&sampling.no_ticks, true);
    return REAL(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
}

/* Before the system call seccomp, as libseccomp makes it. */
static void before_seccomp(unsigned operation, const struct sock_fprog *filter)
{
    if (operation == SECCOMP_SET_MODE_STRICT)
        before_filter(NULL);
    if (operation == SECCOMP_SET_MODE_FILTER)
        before_filter_if_any(filter);
}

/* ---- syscall ---- */

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
        before_seccomp((unsigned)a, (const struct sock_fprog *)c);
    return (void *)(uintptr_t)REAL(syscall);
}

/* A jump, not a call: the system call may be a fork whose child goes on on this stack. */
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
