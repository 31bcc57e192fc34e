/* Hooks on prctl and syscall.
 *
 * A program restricts its own system calls by prctl, or by syscall(SYS_seccomp), as libseccomp
 * does. A sample that makes a forbidden call would end the program. So when the program forbids a
 * call that hpcrun needs (a filter is run for each of them), hpcrun writes what was measured and
 * withdraws (process_withdraw). It also withdraws when the program has its system calls sent back
 * to itself as signals (user dispatch). A program that may not read the time stamp counter is
 * measured without.
 *
 * Programs also set signal actions through syscall: Chromium's children set all of them to their
 * defaults. That would include the sampling signal, whose default ends the process. So
 * syscall(SYS_rt_sigaction) becomes a call of our sigaction. hooks/bare-calls.c does the same for the
 * calls that make, replace, end and await processes. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/bare-calls.h"
#include "hpcrun/hooks/condition-waits.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/moment.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/restart/ended-calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- filters ----
 *
 * A filter is a program for the kernel's classic BPF machine. It is run here for each system call
 * that hpcrun needs. Its decisions by arguments are not followed: a filter that reads arguments
 * counts as one that forbids the call. */

/* System calls that sampling and the end of a process need. */
static const uint16_t needed[] = {
    SYS_read,
    SYS_write,
    SYS_openat,
    SYS_close,
    SYS_fcntl,
    SYS_ioctl,
    SYS_fstat,
    SYS_pread64,
    SYS_unlinkat,
    SYS_renameat,
    SYS_mmap,
    SYS_munmap,
    SYS_futex,
    SYS_nanosleep,
    SYS_getpid,
    SYS_getppid,
    SYS_geteuid,
    SYS_gettid,
    SYS_tgkill,
    SYS_clock_gettime,
    SYS_perf_event_open,
    SYS_prctl,
    SYS_timer_create,
    SYS_timer_settime,
    SYS_timer_delete,
    SYS_prlimit64,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigpending,
    SYS_sigaltstack,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_tgsigqueueinfo,
    SYS_process_vm_readv,
};

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
    uint32_t number; /* of the system call */
    bool unknown;    /* it used an instruction or data that is not supported here */
};

static uint32_t load(struct machine *m, uint32_t offset)
{
    if (offset == offsetof(struct seccomp_data, nr))
        return m->number;
    if (offset == offsetof(struct seccomp_data, arch))
        return AUDIT_ARCH_X86_64;
    m->unknown = true;
    return 0;
}

static uint32_t compute(struct machine *m, uint16_t operation, uint32_t with)
{
    switch (operation) {
    case BPF_ADD: return m->a + with;
    case BPF_SUB: return m->a - with;
    case BPF_MUL: return m->a * with;
    case BPF_AND: return m->a & with;
    case BPF_OR: return m->a | with;
    case BPF_XOR: return m->a ^ with;
    case BPF_LSH: return with < 32 ? m->a << with : 0;
    case BPF_RSH: return with < 32 ? m->a >> with : 0;
    case BPF_NEG: return -m->a;
    default: m->unknown = true; return 0;
    }
}

static bool jumps(struct machine *m, uint16_t operation, uint32_t with)
{
    switch (operation) {
    case BPF_JEQ: return m->a == with;
    case BPF_JGT: return m->a > with;
    case BPF_JGE: return m->a >= with;
    case BPF_JSET: return (m->a & with) != 0;
    default: m->unknown = true; return false;
    }
}

static void load_or_store(struct machine *m, const struct sock_filter *at)
{
    uint16_t class = BPF_CLASS(at->code), mode = BPF_MODE(at->code);
    uint32_t *word = &m->memory[at->k % BPF_MEMWORDS], value;
    if (class == BPF_ST || class == BPF_STX) {
        *word = class == BPF_ST ? m->a : m->x;
        return;
    }
    switch (mode) {
    case BPF_IMM: value = at->k; break;
    case BPF_MEM: value = *word; break;
    case BPF_LEN: value = sizeof(struct seccomp_data); break;
    default: value = load(m, at->k); break;
    }
    *(class == BPF_LD ? &m->a : &m->x) = value;
}

/* The filter's action for a call; SECCOMP_RET_KILL_PROCESS if that is not known. */
static uint32_t action_for(const struct sock_fprog *filter, uint32_t number)
{
    struct machine m = {.number = number};
    for (uint32_t pc = 0; pc < filter->len && !m.unknown; pc++) {
        const struct sock_filter *at = &filter->filter[pc];
        uint32_t with = BPF_SRC(at->code) == BPF_X ? m.x : at->k;
        switch (BPF_CLASS(at->code)) {
        case BPF_RET: return BPF_RVAL(at->code) == BPF_A ? m.a : at->k;
        case BPF_ALU: m.a = compute(&m, BPF_OP(at->code), with); break;
        case BPF_JMP:
            if (BPF_OP(at->code) == BPF_JA)
                pc += at->k;
            else
                pc += jumps(&m, BPF_OP(at->code), with) ? at->jt : at->jf;
            break;
        case BPF_MISC:
            *(BPF_MISCOP(at->code) == BPF_TAX ? &m.x : &m.a) =
                BPF_MISCOP(at->code) == BPF_TAX ? m.a : m.x;
            break;
        default: load_or_store(&m, at); break;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}

/* Whether measuring works without a call: timers replace perf_event_open; names of threads (prctl)
 * and of run-time compiled code (geteuid), and the parent's id, may be missing. */
static bool may_fail(uint32_t number)
{
    return number == SYS_perf_event_open || number == SYS_prctl || number == SYS_geteuid ||
           number == SYS_getppid;
}

static bool lets_through(uint32_t action, uint32_t number)
{
    action &= SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
           (action == SECCOMP_RET_ERRNO && may_fail(number));
}

static bool seccomp_lets_us_work(const struct sock_fprog *filter)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!lets_through(action_for(filter, needed[i]), needed[i]))
            return false;
    return true;
}

/* ---- restrictions of system calls ---- */

REAL_FUNCTION(prctl)

static void withdraw(const char *why)
{
    process_withdraw(why);
    signals_give_back();
}

static void before_filter(const struct sock_fprog *filter)
{
    process.restricted = true;
    arena_file_restrict();
    if (fork_is_measured() && (!filter || !seccomp_lets_us_work(filter)))
        withdraw("the program restricts its system calls (seccomp)");
}

static void before_dispatch(void)
{
    if (fork_is_measured())
        withdraw("the program has its system calls sent to itself (user dispatch)");
}

/* Libraries pass a NULL filter to test what the kernel supports. */
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
        ticks_forbid();
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

/* libc reserves the two signals below SIGRTMIN, and its sigaction refuses them. */
static bool is_reserved_by_libc(int signal)
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

/* Replaces syscall(SYS_rt_sigaction, ...). */
static long set_action(long number, int signal, const struct sys_sigaction *action,
                       struct sys_sigaction *old, size_t mask_size)
{
    struct sigaction wanted, before;
    if (mask_size != sizeof action->mask || is_reserved_by_libc(signal))
        return REAL(syscall)(number, signal, action, old, mask_size);
    if (action)
        wanted = from_kernel(action);
    int result = sigaction(signal, action ? &wanted : NULL, &before);
    if (result == 0 && old)
        *old = to_kernel(&before);
    return result;
}

/* Replaces syscall(SYS_sigaltstack, ...). */
static long set_stack(long number, const stack_t *stack, stack_t *old)
{
    (void)number;
    return sigaltstack(stack, old);
}

/* Returns the function to jump to with the same arguments, and `sp` as its stack pointer. */
void *syscall_enter(long number, long a, long b, long c, uint64_t sp, long e)
    __attribute__((visibility("hidden")));
void *syscall_enter(long number, long a, long b, long c, uint64_t sp, long e)
{
    note_syscall(&(struct noted_syscall){sp, number, a, b, c});
    if (number == SYS_futex && futex_waits((int)b))
        return (void *)(uintptr_t)futex_wait;
    if (number == SYS_futex) /* others wake up waiters */
        waker_note((const void *)(uintptr_t)a, (int)c == 1 ? WAKES_ONE : WAKES_ALL);
    if (number == SYS_rt_sigaction && process.active)
        return (void *)(uintptr_t)set_action;
    if (number == SYS_sigaltstack)
        return (void *)(uintptr_t)set_stack;
    if (number == SYS_seccomp)
        before_seccomp((unsigned)a, (const struct sock_fprog *)c);
    void *of_processes = bare_call(number, a, b, e);
    return of_processes ? of_processes : (void *)(uintptr_t)REAL(syscall);
}

/* A jump, not a call: the system call may be a fork whose child continues on this stack. */
/* clang-format off */
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        PUSH(rdi) PUSH(rsi) PUSH(rdx) PUSH(rcx) PUSH(r8) PUSH(r9)
        PUSH(r10) /* aligns the stack */
        "    lea 56(%rsp), %r8\n" /* over the seven registers */
        "    call syscall_enter\n"
        POP(r10) POP(r9) POP(r8) POP(rcx) POP(rdx) POP(rsi) POP(rdi)
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size syscall, .-syscall\n");
/* clang-format on */
