#include "hpcrun/hooks/signals.h"

#include "hpcrun/base/fork-mark.h"
#include "hpcrun/base/hook.h"
#include "hpcrun/base/lock.h"
#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/kernel-stack-users.h"
#include "hpcrun/hooks/signal-entry.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"
#include "hpcrun/restart/restart.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/thread/signal-stack.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

REAL_FUNCTION(sigaction)
REAL_FUNCTION(sigprocmask)
REAL_FUNCTION(pthread_sigmask)
REAL_FUNCTION(signalfd)
REAL_FUNCTION(sigaltstack)

#define SIGNALS 65

/* The actions that the program set. */
static struct sigaction program_action[SIGNALS];

/* Its last handlers, kept when the action becomes another: a signal may already be on its way. */
static void *program_handler[SIGNALS];
static bool is_on_ours[SIGNALS]; /* the handler uses the kernel's signal stack, which is ours */

static struct {
    bool ours;             /* our handlers are installed */
    uint64_t not_for_libc; /* set of signals that libc reserves: its sigaction refuses them */
    int sampling_signal;
    struct lock lock;
} state;

/* Signals that end the process by default. */
static bool ends_process(int signal)
{
    switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGKILL: return false;
    default: return true;
    }
}

static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS;
}

/* Whether an instruction raised the signal: it does so again when the handler returns. */
static bool is_raised_by_instruction(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && info->si_code != SI_KERNEL &&
           (is_fault(signal) || signal == SIGFPE || signal == SIGILL);
}

static const struct sys_sigaction by_default = {.handler = NULL};

/* Writes what was measured; then lets the signal take its default effect. */
static void end_by_signal(int signal, const siginfo_t *info)
{
    static const struct timespec a_while = {.tv_nsec = 100000000};
    if (process_is_ours() && !process_end(PROCESS_SIGNAL, signal))
        sys2(SYS_nanosleep, &a_while,
             NULL); /* another signal is ending the process: let that one take effect */
    sys_sigaction(signal, &by_default, NULL);
    if (is_raised_by_instruction(signal, info))
        return;
    sys3(SYS_tgkill, sys_getpid(), sys_gettid(), signal);
    sys_mask(SIG_UNBLOCK, sys_mask_bit(signal));
}

static void on_fatal(int signal, siginfo_t *info, void *context)
{
    if (!handler_take_lost(signal, info, context, true))
        end_by_signal(signal, info);
}

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Sends a signal to the thread again, and blocks it until the handler of a sample, or a section of
 * ours, is done. */
static void postpone(int signal, siginfo_t *info, ucontext_t *context)
{
    context->uc_sigmask.__val[0] |= sys_mask_bit(signal);
    sys4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signal, info);
}

/* A fault. Returns false if it is the program's, which has a handler. */
static bool take_fault(int signal, siginfo_t *info, void *context)
{
    struct thread *thread = thread_self;
    bool is_sent = info->si_code <= 0;
    if (own_section_is_active() && is_sent) {
        postpone(signal, info, context);
        return true;
    }
    if (thread && atomic_load(&thread->busy) && is_sent) {
        if (guard_abandon(&thread->unwinder.guard, context))
            thread->unwinder.cache
                ->generation--; /* invalidate the cache, which may be half changed */
        postpone(signal, info, context);
        return true;
    }
    if (guard_fix_up(thread ? &thread->unwinder.guard : NULL, context))
        return true;
    if (signal == SIGBUS && shared_pages_fix_up((uint64_t)(uintptr_t)info->si_addr))
        return true;
    if (own_section_is_active()) { /* ours: its locks are held, so nothing can be written */
        sys_sigaction(signal, &by_default, NULL);
        return true;
    }
    bool ignored = program_action[signal].sa_handler == SIG_IGN;
    if (is_handler(&program_action[signal]))
        return false;
    if (!ignored || is_raised_by_instruction(signal, info))
        end_by_signal(signal, info);
    return true;
}

void *signals_fault_handler(void)
{
    return (void *)(uintptr_t)signal_entry_ours;
}

/* Whether a process or the program sent the signal: not a late sample whose source is closed. */
static bool was_sent(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
}

/* A sampling signal that is no sample. Returns false if the program has a handler for it; without one,
 * and unless the program ignores the signal, it ends the process. */
static bool take_sent(int signal, siginfo_t *info, void *context)
{
    if (is_handler(&program_action[signal])) {
        restart_mark(context); /* the kernel restarts the call by our SA_RESTART */
        return false;
    }
    if (program_action[signal].sa_handler == SIG_DFL && was_sent(info))
        end_by_signal(signal, info);
    return true;
}

bool signals_take(int signal, siginfo_t *info, void *context)
{
    if (is_fault(signal))
        return take_fault(signal, info, context);
    return handler_on_signal(info, context) || take_sent(signal, info, context);
}

static void note_known(int signal, bool known)
{
    if (known)
        atomic_fetch_or(&restart_known_handlers, sys_mask_bit(signal));
    else
        atomic_fetch_and(&restart_known_handlers, ~sys_mask_bit(signal));
}

/* ---- handlers of the program ---- */

/* Whether the kernel does not see that the program's handler is to be reset. */
static bool hides_reset(int signal)
{
    return is_fault(signal) || signal == state.sampling_signal;
}

/* At the end of a handler the kernel restores the signal stack from the frame, where the handler may look
 * at it. The kernel knows no such flag: it leaves ours. */
#define NOT_TO_RESTORE (1 << 30)

static void show_program_stack(ucontext_t *context)
{
    context->uc_stack = thread_self->program_stack;
    context->uc_stack.ss_flags |= NOT_TO_RESTORE;
}

struct program_handler signals_enter_program(int signal, siginfo_t *info, void *context)
{
    const struct program_handler handler = {.function = program_handler[signal],
                                            .is_on_stack =
                                                program_action[signal].sa_flags & SA_ONSTACK,
                                            .is_on_ours = is_on_ours[signal]};
    handler_take_lost(signal, info, context,
                      false); /* the signal may also be a lost sample's SIGIO */
    if (thread_self && thread_self->has_signal_stack && !handler.is_on_ours)
        show_program_stack(context);
    thread_program_handlers++;
    restart_before_handler(context, program_action[signal].sa_flags & SA_RESTART);
    if (hides_reset(signal) && (program_action[signal].sa_flags & SA_RESETHAND))
        program_action[signal].sa_handler = SIG_DFL;
    return handler;
}

uint64_t signals_mask_of(int signal, const void *context, uint64_t now)
{
    const struct sigaction *action = &program_action[signal];
    if (signal != state.sampling_signal)
        return now;
    now = ((const ucontext_t *)context)->uc_sigmask.__val[0] | action->sa_mask.__val[0];
    return now & ~sys_mask_bit(signal);
}

void signals_overflow(void)
{
    const siginfo_t info = {.si_code = SI_KERNEL};
    end_by_signal(SIGSEGV, &info);
}

/* ---- actions ---- */

/* Installs the action that stands for the program's one. */
static int install(int signal)
{
    const uint64_t faults = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS);
    struct sigaction action = program_action[signal];
    bool known = true;
    action.sa_mask.__val[0] &= ~sys_mask_bit(state.sampling_signal);
    if (is_fault(signal)) {
        if (!is_handler(&action)) {
            action.sa_flags = SA_NODEFER | SA_ONSTACK;
            action.sa_mask.__val[0] = ~faults;
        }
        action.sa_flags = (action.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
        action.sa_sigaction = signal_entry_ours;
    } else if (is_handler(&action)) {
        if (signal == SIGIO) /* a lost sample is taken there */
            action.sa_flags |= SA_ONSTACK;
        action.sa_sigaction = action.sa_flags & SA_ONSTACK ? signal_entry : signal_entry_plain;
        action.sa_flags |= SA_SIGINFO;
    } else if (action.sa_handler == SIG_DFL && ends_process(signal)) {
        action.sa_sigaction = on_fatal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        action.sa_mask.__val[0] =
            ~(uint64_t)0; /* the first fatal signal decides how the process ends */
    } else {
        known = false;
    }
    note_known(signal, known);
    return REAL(sigaction)(signal, &action, NULL);
}

static uint64_t lock(void)
{
    return lock_take(&state.lock);
}

static void unlock(uint64_t mask)
{
    lock_release(&state.lock, mask);
}

static uint64_t mask_at_fork;

void signals_lock_for_fork(void)
{
    mask_at_fork = lock();
}

void signals_unlock_after_fork(void)
{
    unlock(mask_at_fork);
}

bool signals_can_lock(void)
{
    return lock_is_free(&state.lock);
}

/* In the child of a vfork, which has its own signal actions but shares our memory, or that of a bare
 * fork during which another thread held the lock: installs the action directly, without recording
 * it. */
static int set_in_vfork_child(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before;
    int result = REAL(sigaction)(signal, action, &before);
    bool hidden = before.sa_sigaction == signal_entry ||
                  before.sa_sigaction == signal_entry_plain ||
                  before.sa_sigaction == signal_entry_ours || before.sa_sigaction == on_fatal;
    if (result == 0 && old)
        *old = hidden ? program_action[signal] : before;
    return result;
}

HOOK int sigaltstack(const stack_t *stack, stack_t *old)
{
    struct thread *thread = thread_self;
    if (!thread || !process.active || !process_is_ours())
        return REAL(sigaltstack)(stack, old);
    uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    long result = signal_stack_change(thread, stack, old, sp);
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : 0;
}

void signals_give_back(void)
{
    uint64_t mask = lock();
    struct sigaction *sampling = &program_action[state.sampling_signal];
    if (!is_handler(sampling)) /* a sampling signal may still be pending */
        sampling->sa_handler = SIG_IGN;
    for (int signal = 1; signal < SIGNALS; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && !(state.not_for_libc & sys_mask_bit(signal)))
            REAL(sigaction)(signal, &program_action[signal], NULL);
    state.ours = false;
    if (thread_self)
        signal_stack_end(thread_self);
    unlock(mask);
}

/* Records that the kernel has reset an action with SA_RESETHAND to its default. */
static void record_reset(int signal)
{
    struct sys_sigaction now;
    if ((program_action[signal].sa_flags & SA_RESETHAND) && !is_fault(signal) &&
        sys_sigaction(signal, NULL, &now) == 0 && now.handler == NULL)
        program_action[signal].sa_handler = SIG_DFL;
}

HOOK int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (!state.ours || signal <= 0 || signal >= SIGNALS || signal == SIGKILL || signal == SIGSTOP ||
        (state.not_for_libc & sys_mask_bit(signal)))
        return REAL(sigaction)(signal, action, old);
    if (!process_is_ours() && (!fork_mark_is_wiped() || !signals_can_lock()))
        return set_in_vfork_child(signal, action, old);
    struct sigaction wanted;
    if (action)
        wanted = *action; /* an invalid pointer faults here, before the lock is taken */
    uint64_t mask = lock();
    int result = 0;
    record_reset(signal);
    struct sigaction before = program_action[signal];
    if (action) {
        program_action[signal] = wanted;
        if (is_handler(&wanted)) {
            program_handler[signal] = (void *)(uintptr_t)wanted.sa_sigaction;
            is_on_ours[signal] = uses_kernel_stack(program_handler[signal]);
        }
        if (signal != state.sampling_signal)
            result = install(signal);
        if (result != 0)
            program_action[signal] = before;
    }
    unlock(mask);
    if (result == 0 && old)
        *old = before;
    return result;
}

HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    return REAL(sigprocmask)(how, mask_without_sampling(set, &copy), old);
}

HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    return REAL(pthread_sigmask)(how, mask_without_sampling(set, &copy), old);
}

HOOK int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;
    return REAL(signalfd)(fd, mask_without_sampling(set, &copy), flags);
}

int signals_choose(void)
{
    for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; signal--) {
        struct sys_sigaction now;
        if (sys_sigaction(signal, NULL, &now) == 0 && now.handler == NULL)
            return signal;
    }
    return 0;
}

void signals_init(int sampling_signal)
{
    assert(!state.ours);
    state.sampling_signal = sampling_signal;
    for (int signal = 1; signal < SIGNALS; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP)
            continue;
        struct sigaction *action = &program_action[signal];
        if (REAL(sigaction)(signal, NULL, action) != 0) {
            state.not_for_libc |= sys_mask_bit(signal);
            continue;
        }
        if (is_handler(action))
            program_handler[signal] = (void *)(uintptr_t)action->sa_sigaction;
        if (is_fault(signal) || (action->sa_handler == SIG_DFL && ends_process(signal)))
            install(signal);
    }
    /* While a sample is taken, all signals but faults are blocked: a handler that ends the process,
     * or one of the program, would find the thread's tree half changed. sigfillset can't be used,
     * since it omits the signal by which libc cancels threads. */
    struct sigaction sampling = {.sa_sigaction = signal_entry_ours,
                                 .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sampling.sa_mask.__val[0] = ~(sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS));
    REAL(sigaction)(sampling_signal, &sampling, NULL);
    sys_mask(SIG_UNBLOCK, sys_mask_bit(sampling_signal));
    state.ours = true;
}
