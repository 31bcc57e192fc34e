/* Hooks on the ways to forbid oneself system calls: prctl, and seccomp (hooks/syscall.c), as
 * libseccomp calls it. A sample that makes a call which is forbidden would end the program. So
 * where what hpcrun needs is among them, it writes what was measured and withdraws
 * (process_withdraw).
 *
 * The same for a program that has its system calls sent back to itself, as signals. One that may
 * not read the time stamp counter is measured without. */
#include "hpcrun/hooks/seccomp.h"

#include "hpcrun/hooks/real.h"
#include "hpcrun/hooks/seccomp-filter.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/end.h"
#include "hpcrun/process/process.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void seccomp_before_call(unsigned operation, const struct sock_fprog *filter)
{
    if (operation == SECCOMP_SET_MODE_STRICT)
        before_filter(NULL);
    if (operation == SECCOMP_SET_MODE_FILTER)
        before_filter_if_any(filter);
}
