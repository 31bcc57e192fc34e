/* Signal handler. */
#include "hpcrun/hooks/signal-entry.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/thread/signal-stack.h"

#include <string.h>
#include <ucontext.h>

/* ---- the kernel's frame ---- */

#define RED_ZONE 128
#define MAGIC    0x46505853u /* of the vector registers' size; without it they take 512 bytes */

/* Below it, at the next multiple of 64, lie the vector registers. */
struct signal_frame {
    void *return_address;
    struct {
        unsigned long flags;
        void *link;
        stack_t stack;
        mcontext_t registers;
        uint64_t mask;
    } context; /* the kernel's part of ucontext_t */
    siginfo_t info;
};

_Static_assert(sizeof(struct signal_frame) == 440, "the kernel's frame");
_Static_assert(offsetof(struct signal_frame, info) == 312, "signal_entry uses the layout");
_Static_assert(offsetof(struct signal_frame, context.mask) - 8 == offsetof(ucontext_t, uc_sigmask),
               "the kernel's ucontext_t");
_Static_assert(offsetof(struct thread, signal_stack) == 0, "signal_entry uses the layout");
_Static_assert(offsetof(stack_t, ss_sp) == 0 && offsetof(stack_t, ss_size) == 16, "the same");

static struct signal_frame *frame_of(const void *context)
{
    return (struct signal_frame *)((char *)context - offsetof(struct signal_frame, context));
}

static size_t vector_bytes(const struct signal_frame *frame)
{
    const char *vectors = (const char *)frame->context.registers.fpregs;
    uint32_t size[2];
    memcpy(size, vectors + 464, sizeof size);
    return size[0] == MAGIC ? size[1] : 512;
}

static uint64_t interrupted_sp(const struct signal_frame *frame)
{
    return (uint64_t)frame->context.registers.gregs[REG_RSP];
}

/* ---- moving it ---- */

/* Where the kernel would have begun to build the frame without us: at the top of the program's signal
 * stack, or below what it interrupted. Sets *within to the stack that must hold the frame, or NULL. */
static uint64_t place(const struct thread *thread, const struct signal_frame *frame,
                      bool is_on_stack, const stack_t **within)
{
    const stack_t *program = &thread->program_stack;
    uint64_t sp = interrupted_sp(frame), below = sp - RED_ZONE;
    bool enters = is_on_stack && !(program->ss_flags & SS_DISABLE) &&
                  !signal_stack_holds(program, below);
    *within = enters || signal_stack_holds(program, sp) ? program : NULL;
    return enters ? (uint64_t)(uintptr_t)program->ss_sp + program->ss_size : below;
}

static struct signal_frame *move(const struct thread *thread, const struct signal_frame *frame,
                                 bool is_on_stack)
{
    const stack_t *within;
    size_t bytes = vector_bytes(frame);
    uint64_t sp = place(thread, frame, is_on_stack, &within);
    uint64_t vectors = (sp - bytes) & ~(uint64_t)63;
    uint64_t at = ((vectors - sizeof *frame) & ~(uint64_t)15) - 8;
    struct signal_frame *moved = (struct signal_frame *)at;
    if (within && !signal_stack_holds(within, at))
        signals_overflow();
    memcpy((void *)vectors, frame->context.registers.fpregs, bytes);
    *moved = *frame;
    moved->context.registers.fpregs = (fpregset_t)vectors;
    return moved;
}

static bool is_ours(const struct thread *thread, uint64_t sp)
{
    return thread && signal_stack_holds(&thread->signal_stack, sp);
}

/* Moves the frame from our stack, but not if it has interrupted code there: that may be the end of the
 * process, or a handler that takes this stack for its own. */
static struct signal_frame *move_from_ours(const struct thread *thread, struct signal_frame *frame,
                                   const struct program_handler *handler)
{
    bool stays = handler->is_on_ours || !is_ours(thread, (uint64_t)(uintptr_t)frame) ||
                 is_ours(thread, interrupted_sp(frame));
    return stays ? frame : move(thread, frame, handler->is_on_stack);
}

/* ---- frames on each other ---- */

extern const char signal_entry_begun[] __attribute__((visibility("hidden")));

/* Whether the frame has interrupted an entry on our stack that has done nothing yet. */
static bool has_interrupted_entry(const struct thread *thread, const struct signal_frame *frame)
{
    uint64_t pc = (uint64_t)frame->context.registers.gregs[REG_RIP];
    uint64_t begin = (uint64_t)(uintptr_t)signal_entry_plain;
    return is_ours(thread, interrupted_sp(frame)) &&
           pc - begin < (uint64_t)(uintptr_t)signal_entry_begun - begin;
}

/* The frame has interrupted the entry of another signal: changes it into one that has interrupted the
 * handler of that signal at its begin. */
static void finish_entry(const struct thread *thread, struct signal_frame *frame)
{
    struct signal_frame *outer = (struct signal_frame *)interrupted_sp(frame);
    greg_t *reg = frame->context.registers.gregs;
    int signal = outer->info.si_signo;
    if (has_interrupted_entry(thread, outer))
        finish_entry(thread, outer);
    struct program_handler handler =
        signals_enter_program(signal, &outer->info, &outer->context);
    outer = move_from_ours(thread, outer, &handler);
    reg[REG_RIP] = (greg_t)(uintptr_t)handler.function;
    reg[REG_RSP] = (greg_t)(uintptr_t)outer;
    reg[REG_RDI] = signal;
    reg[REG_RSI] = (greg_t)(uintptr_t)&outer->info;
    reg[REG_RDX] = (greg_t)(uintptr_t)&outer->context;
}

/* ---- the entries ---- */

struct entry {
    void *handler;
    struct signal_frame *frame;
};

/* With all signals blocked. *mask is what it was before; sets it to that of the handler. */
struct entry signal_entry_choose(int signal, siginfo_t *info, void *context, uint64_t *mask)
    __attribute__((visibility("hidden")));
struct entry signal_entry_choose(int signal, siginfo_t *info, void *context, uint64_t *mask)
{
    const struct thread *thread = thread_self;
    struct signal_frame *frame = frame_of(context);
    if (has_interrupted_entry(thread, frame))
        finish_entry(thread, frame);
    *mask = signals_mask_of(signal, context, *mask);
    struct program_handler handler = signals_enter_program(signal, info, context);
    return (struct entry){handler.function, move_from_ours(thread, frame, &handler)};
}

/* Between signal_entry_plain and signal_entry_begun the stack stays as the kernel left it, so that
 * finish_entry finds the frame. Of the registers, only rbp matters to what comes later. The mask lies
 * in the red zone. A handler without SA_ONSTACK needs all this only if it has interrupted another
 * entry. */
/* clang-format off */
#define SYS_RT_SIGPROCMASK "    mov $14, %eax\n    mov $8, %r10d\n    syscall\n"
#define SHARED(name) ".globl " #name "\n.hidden " #name "\n"
__asm__(".text\n"
        SHARED(signal_entry) SHARED(signal_entry_plain) SHARED(signal_entry_ours)
        SHARED(signal_entry_begun)
        ".type signal_entry_ours, @function\n"
        "signal_entry_ours:\n"
        "    .cfi_startproc\n"
        PUSH(rdi) PUSH(rsi) PUSH(rdx)
        "    call signals_take\n"
        POP(rdx) POP(rsi) POP(rdi)
        "    test %al, %al\n"
        "    jz signal_entry\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size signal_entry_ours, .-signal_entry_ours\n"

        ".type enter_in_place, @function\n"
        "enter_in_place:\n"
        "    .cfi_startproc\n"
        PUSH(rdi) PUSH(rsi) PUSH(rdx)
        "    call signals_enter_program\n"
        POP(rdx) POP(rsi) POP(rdi)
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size enter_in_place, .-enter_in_place\n"

        ".type signal_entry_plain, @function\n"
        "signal_entry_plain:\n"
        "    .cfi_startproc\n"
        "    mov thread_self@gottpoff(%rip), %rax\n"
        "    mov %fs:(%rax), %rax\n"
        "    test %rax, %rax\n"
        "    jz enter_in_place\n"
        "    mov %rsp, %rcx\n"
        "    sub 0(%rax), %rcx\n"  /* signal_stack.ss_sp */
        "    cmp 16(%rax), %rcx\n" /* signal_stack.ss_size */
        "    ja enter_in_place\n"
        ".type signal_entry, @function\n"
        "signal_entry:\n"
        "    mov %edi, %r12d\n"
        "    mov %rsi, %r13\n"
        "    mov %rdx, %r14\n"
        "    xor %edi, %edi\n" /* SIG_BLOCK */
        "    lea signal_entry_all(%rip), %rsi\n"
        "    lea -8(%rsp), %rdx\n"
        SYS_RT_SIGPROCMASK
        "signal_entry_begun:\n"
        "    sub $24, %rsp\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "    mov %r12d, %edi\n"
        "    mov %r13, %rsi\n"
        "    mov %r14, %rdx\n"
        "    lea 16(%rsp), %rcx\n"
        "    call signal_entry_choose\n"
        "    mov 16(%rsp), %rcx\n"
        "    mov %rax, %r13\n"
        "    mov %rdx, %rsp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    mov %rcx, -8(%rsp)\n"
        "    mov $2, %edi\n" /* SIG_SETMASK */
        "    lea -8(%rsp), %rsi\n"
        "    xor %edx, %edx\n"
        SYS_RT_SIGPROCMASK
        "    mov %r12d, %edi\n"
        "    lea 312(%rsp), %rsi\n"
        "    lea 8(%rsp), %rdx\n"
        "    jmp *%r13\n"
        "    .cfi_endproc\n"
        ".size signal_entry_plain, .-signal_entry_plain\n"

        ".section .rodata\n"
        ".balign 8\n"
        "signal_entry_all: .quad -1\n"
        ".text\n");
/* clang-format on */
