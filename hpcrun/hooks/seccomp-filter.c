#include "hpcrun/hooks/seccomp-filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* What sampling and the end of a process need. */
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
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_tgsigqueueinfo,
    SYS_process_vm_readv,
};

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
    uint32_t number; /* of the system call */
    bool unknown;    /* it asked for something that is not known here */
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

/* What the filter does with a call: its action, or that of killing where that can't be told. */
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

/* Where perf_event_open fails there are timers, and names of threads (prctl) and of code made at
 * run time (geteuid) and the parent's number can be missed; what else fails would be a part of the
 * measurement. */
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

bool seccomp_lets_us_work(const struct sock_fprog *filter)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!lets_through(action_for(filter, needed[i]), needed[i]))
            return false;
    return true;
}
