/* Hooks on older functions that set a signal's action or wait for a signal. libc's versions call
 * its own sigaction and sigsuspend directly, past our hooks. These implement their specifications
 * with the hooked functions. */
#include "hpcrun/base/hook.h"
#include "hpcrun/hooks/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

sighandler_t bsd_signal(int number, sighandler_t handler); /* no longer declared in headers */

/* Set of signals with siginterrupt(number, 1): signal() sets no SA_RESTART for them. */
static _Atomic uint64_t interrupting;

static uint64_t bit(int number)
{
    return number > 0 && number <= 64 ? (uint64_t)1 << (number - 1) : 0;
}

static sighandler_t set(int number, sighandler_t handler, int flags, bool mask_itself)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (mask_itself)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

HOOK sighandler_t signal(int number, sighandler_t handler)
{
    bool interrupts = atomic_load(&interrupting) & bit(number);
    return set(number, handler, interrupts ? 0 : SA_RESTART, true);
}

HOOK sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

HOOK sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

/* signal() in programs that are compiled for POSIX without BSD. */
HOOK sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set(number, handler, SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, false);
}

HOOK sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

HOOK int siginterrupt(int number, int interrupts)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (interrupts) {
        atomic_fetch_or(&interrupting, bit(number));
        action.sa_flags &= ~SA_RESTART;
    } else {
        atomic_fetch_and(&interrupting, ~bit(number));
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

HOOK int sigignore(int number)
{
    return set(number, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

/* Sets the action and unblocks the signal; SIG_HOLD only blocks it. Returns what was set before, or
 * SIG_HOLD for a signal that was blocked. */
HOOK sighandler_t sigset(int number, sighandler_t handler)
{
    sigset_t just_this, before;
    struct sigaction old;
    sigemptyset(&just_this);
    if (sigaddset(&just_this, number) != 0)
        return SIG_ERR;
    if (handler == SIG_HOLD) {
        if (sigaction(number, NULL, &old) != 0 || sigprocmask(SIG_BLOCK, &just_this, &before) != 0)
            return SIG_ERR;
    } else {
        old.sa_handler = set(number, handler, 0, false);
        if (old.sa_handler == SIG_ERR || sigprocmask(SIG_UNBLOCK, &just_this, &before) != 0)
            return SIG_ERR;
    }
    return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}

/* sigpause takes the signal to wait for, or, in BSD's version, the mask to wait with. */
int __sigpause(int signal_or_mask, int is_signal);
int __xpg_sigpause(int number);
int sigpause_with_mask(int mask) __asm__("sigpause");

HOOK int __sigpause(int signal_or_mask, int is_signal)
{
    sigset_t set;
    sigemptyset(&set);
    if (!is_signal)
        set.__val[0] = (unsigned)signal_or_mask;
    else if (sigprocmask(SIG_BLOCK, NULL, &set) != 0 || sigdelset(&set, signal_or_mask) != 0)
        return -1;
    return sigsuspend(&set);
}

HOOK int __xpg_sigpause(int number)
{
    return __sigpause(number, 1);
}

HOOK int sigpause_with_mask(int mask)
{
    return __sigpause(mask, 0);
}
