#include "hpcrun/restart/resumed-calls.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/restart/restart.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/socket.h>

/* ---- the code ---- */

/* Offsets in struct resumed_call. */
#define RDI       "0"
#define RSI       "8"
#define RDX       "16"
#define R10       "24"
#define R8        "32"
#define R9        "40"
#define R12       "48"
#define SP        "56"
#define PC        "64"
#define DONE      "72"
#define SETS_MASK "80"
#define MASK      "88"
#define RESULT    "96"
#define IN_USE    "104"
#define STORES    "112"
#define TIME      "120"

_Static_assert(offsetof(struct resumed_call, r12) == 48, "the code uses the layout");
_Static_assert(offsetof(struct resumed_call, done) == 72, "the code uses the layout");
_Static_assert(offsetof(struct resumed_call, time) == 120, "the code uses the layout");

/* Unwind information, by DWARF's numbers of registers. The caller's register N is saved at r12 +
 * OFFSET (as a number of two bytes); so is its stack pointer, which is the CFA. */
#define SAVED_AT(n, offset) "    .cfi_escape 0x10, " n ", 3, 0x7c, 0x80 | " offset ", 0\n"
#define CFA_AT(offset)      "    .cfi_escape 0x0f, 4, 0x7c, 0x80 | " offset ", 0, 0x06\n"

/* The program's flags stay, as after a system call; they change only with a part before. */
void resumed_syscall(void) __attribute__((visibility("hidden")));
void resumed_after(void) __attribute__((visibility("hidden")));
/* clang-format off */
__asm__(".text\n"
        ".type resumed_syscall, @function\n"
        "resumed_syscall:\n"
        "    .cfi_startproc\n"
        CFA_AT(SP)
        SAVED_AT("16", PC)
        SAVED_AT("12", R12)
        "    syscall\n"
        "resumed_after:\n"
        "    mov " DONE "(%r12), %rcx\n"
        "    jrcxz 2f\n"
        "    test %rax, %rax\n"
        "    jns 1f\n"
        "    xor %eax, %eax\n"
        "1:  add %rcx, %rax\n"
        "2:  mov " SETS_MASK "(%r12), %rcx\n"
        "    jrcxz 3f\n"
        "    mov %rax, " RESULT "(%r12)\n"
        "    mov $14, %eax\n"           /* rt_sigprocmask */
        "    mov $2, %edi\n"            /* SIG_SETMASK */
        "    lea " MASK "(%r12), %rsi\n"
        "    mov $0, %edx\n"
        "    mov $8, %r10d\n"
        "    syscall\n"
        "    mov " RESULT "(%r12), %rax\n"
        "3:  mov " STORES "(%r12), %rcx\n"
        "    jrcxz 4f\n"
        "    mov " TIME "(%r12), %r11\n"
        "    mov %r11, (%rcx)\n"
        "    mov 8+" TIME "(%r12), %r11\n"
        "    mov %r11, 8(%rcx)\n"
        "4:  mov " RDI "(%r12), %rdi\n"
        "    mov " RSI "(%r12), %rsi\n"
        "    mov " RDX "(%r12), %rdx\n"
        "    mov " R10 "(%r12), %r10\n"
        "    mov " R8 "(%r12), %r8\n"
        "    mov " R9 "(%r12), %r9\n"
        "    mov " SP "(%r12), %rsp\n"
        "    .cfi_def_cfa rsp, 0\n"
        "    mov " PC "(%r12), %r11\n"
        "    .cfi_register 16, 11\n"
        "    mov %r12, %rcx\n"
        "    mov " R12 "(%rcx), %r12\n"
        "    .cfi_same_value r12\n"
        "    movq $0, " IN_USE "(%rcx)\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".size resumed_syscall, .-resumed_syscall\n");
/* clang-format on */

static greg_t address(void (*code)(void))
{
    return (greg_t)(uintptr_t)code;
}

bool resumed_is_writable(uint64_t address)
{
    uint32_t unused = 0;
    return sys6(SYS_futex, SYS_ARG(&unused), FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                (long)address, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

/* ---- calls ---- */

static struct resumed_call *take(void)
{
    struct resumed_call *all = own_calls()->resumed, *oldest = all;
    for (struct resumed_call *at = all; at < all + RESUMED; at++) {
        if (!at->in_use)
            return at;
        if (at->used < oldest->used)
            oldest = at;
    }
    return oldest;
}

struct resumed_call *resumed_new(const struct interruptible_call *call, const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    struct resumed_call *resumed = take();
    *resumed = (struct resumed_call){
        .rdi = (uint64_t)reg[REG_RDI],
        .rsi = (uint64_t)reg[REG_RSI],
        .rdx = (uint64_t)reg[REG_RDX],
        .r10 = (uint64_t)reg[REG_R10],
        .r8 = (uint64_t)reg[REG_R8],
        .r9 = (uint64_t)reg[REG_R9],
        .r12 = (uint64_t)reg[REG_R12],
        .sp = (uint64_t)reg[REG_RSP],
        .pc = (uint64_t)reg[REG_RIP],
        .call = call,
        .clock = CLOCK_MONOTONIC,
    };
    return resumed;
}

static bool is_call(const struct resumed_call *at)
{
    const struct resumed_call *all = own_calls()->resumed;
    return at >= all && at < all + RESUMED && at->in_use;
}

struct resumed_call *resumed_at(const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    struct resumed_call *resumed = (struct resumed_call *)reg[REG_R12];
    bool at_ours = reg[REG_RIP] == address(resumed_after);
    return is_call(resumed) && (at_ours || (uint64_t)reg[REG_RIP] == resumed->at_place) ? resumed
                                                                                        : NULL;
}

/* ---- the place of the instruction ---- */

#define RED_ZONE           128
#define RET                0xc3
#define ARCH_SHSTK_STATUS  0x5005
#define ARCH_SHSTK_ENABLED 1

/* Shadow stacks allow a return only to the caller. The loader enables them before it calls this. */
static bool has_shadow_stack;

__attribute__((constructor)) static void learn_shadow_stack(void)
{
    uint64_t features = 0;
    has_shadow_stack = sys2(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 &&
                       (features & ARCH_SHSTK_ENABLED);
}

/* The first time: if a ret follows the program's instruction, the call is made there, returns to our
 * code, and that returns to the caller. */
static void choose_place(struct resumed_call *resumed, greg_t *reg)
{
    uint64_t *stack = (uint64_t *)reg[REG_RSP];
    uint64_t *below = stack - RED_ZONE / sizeof *stack - 1;
    if (*(const uint8_t *)resumed->pc != RET || has_shadow_stack ||
        !resumed_is_writable((uint64_t)(uintptr_t)below))
        return;
    resumed->at_place = resumed->pc;
    resumed->pc = *stack;
    resumed->sp += sizeof *stack;
    *below = (uint64_t)address(resumed_after);
    reg[REG_RSP] = SYS_ARG(below);
}

static void go_to_instruction(const struct resumed_call *resumed, greg_t *reg)
{
    uint64_t after = resumed->at_place ? resumed->at_place : (uint64_t)address(resumed_after);
    reg[REG_RAX] = resumed->call->number;
    reg[REG_RIP] = (greg_t)after - SYSCALL_SIZE;
    reg[REG_RCX] = (greg_t)after;
    reg[REG_R12] = SYS_ARG(resumed);
}

/* ---- time ---- */

static uint64_t time_left(const struct resumed_call *resumed)
{
    uint64_t now = sys_clock(resumed->clock);
    return now < resumed->deadline ? resumed->deadline - now : 0;
}

/* Rounded up: rounded down, the thread would be busy in the last millisecond. */
static int in_ms(uint64_t ns)
{
    uint64_t ms = (ns + 999999) / 1000000;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void set_time(struct resumed_call *resumed, greg_t *reg)
{
    const struct interruptible_call *call = resumed->call;
    uint64_t left = time_left(resumed);
    resumed->time = sys_timespec(left);
    switch ((enum call_time)call->time) {
    case TIME_MS: reg[call->time_at] = in_ms(left); break;
    case TIME_SPEC:
    case TIME_SLEEP:
    case TIME_COUNTED: reg[call->time_at] = SYS_ARG(&resumed->time); break;
    case TIME_EXTENDED:
        resumed->extended.ts = (uint64_t)(uintptr_t)&resumed->time;
        reg[call->time_at] = SYS_ARG(&resumed->extended);
        break;
    default: break;
    }
    if (call->number == SYS_select)
        resumed->time.tv_nsec = (resumed->time.tv_nsec + 999) / 1000;
}

/* What a call on a socket returns at the end of its time. A connection is made meanwhile, but for
 * local ones. */
static long end_of_time(const struct resumed_call *resumed)
{
    int domain = AF_UNIX;
    socklen_t size = sizeof domain;
    if (resumed->call->number == SYS_connect)
        sys6(SYS_getsockopt, (long)resumed->rdi, SOL_SOCKET, SO_DOMAIN, SYS_ARG(&domain),
             SYS_ARG(&size), 0);
    return domain == AF_UNIX ? -EAGAIN : -EINPROGRESS;
}

bool resumed_go_on(struct resumed_call *resumed, ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    bool on_socket =
        resumed->call->time == TIME_OF_RECEIVER || resumed->call->time == TIME_OF_SENDER;
    if (on_socket && resumed->deadline && time_left(resumed) == 0) {
        reg[REG_RAX] = end_of_time(resumed);
        return false;
    }
    if (resumed->deadline)
        set_time(resumed, reg);
    if (!resumed->in_use)
        choose_place(resumed, reg);
    resumed->in_use = 1;
    resumed->used = ++own_calls()->uses;
    go_to_instruction(resumed, reg);
    return true;
}
