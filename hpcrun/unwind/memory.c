#include "hpcrun/unwind/memory.h"

#include "hpcrun/base/sys.h"

#include <string.h>

#define PAGE 4096u

/* guard_enter stores the callee-saved registers, its return address, and the stack pointer after
 * its return. To resume from these is to return from it a second time. */
__asm__(".text\n"
        ".globl guard_enter\n"
        ".hidden guard_enter\n"
        ".type guard_enter, @function\n"
        "guard_enter:\n"
        "    .cfi_startproc\n"
        "    mov %rbx, 0(%rdi)\n"
        "    mov %rbp, 8(%rdi)\n"
        "    mov %r12, 16(%rdi)\n"
        "    mov %r13, 24(%rdi)\n"
        "    mov %r14, 32(%rdi)\n"
        "    mov %r15, 40(%rdi)\n"
        "    lea 8(%rsp), %rdx\n"
        "    mov %rdx, 48(%rdi)\n"
        "    mov (%rsp), %rdx\n"
        "    mov %rdx, 56(%rdi)\n"
        "    movb $1, 64(%rdi)\n"
        "    xor %eax, %eax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size guard_enter, .-guard_enter\n");

/* void guard_exit(struct guard *guard) */
__asm__(".text\n"
        ".globl guard_exit\n"
        ".hidden guard_exit\n"
        ".type guard_exit, @function\n"
        "guard_exit:\n"
        "    mov 0(%rdi), %rbx\n"
        "    mov 8(%rdi), %rbp\n"
        "    mov 16(%rdi), %r12\n"
        "    mov 24(%rdi), %r13\n"
        "    mov 32(%rdi), %r14\n"
        "    mov 40(%rdi), %r15\n"
        "    mov 48(%rdi), %rsp\n"
        "    movb $0, 64(%rdi)\n"
        "    mov $1, %eax\n"
        "    jmp *56(%rdi)\n"
        ".size guard_exit, .-guard_exit\n");

_Static_assert(offsetof(struct guard, rip) == 56, "guard_enter uses the layout");
_Static_assert(offsetof(struct guard, active) == 64, "guard_enter uses the layout");

/* bool guard_load(uint64_t from, uint64_t *value) */
__asm__(".text\n"
        ".globl guard_load\n"
        ".hidden guard_load\n"
        ".type guard_load, @function\n"
        "guard_load:\n"
        "    .cfi_startproc\n"
        "guard_load_load:\n"
        "    mov (%rdi), %rax\n"
        "    mov %rax, (%rsi)\n"
        "    mov $1, %eax\n"
        "    ret\n"
        "guard_load_failed:\n"
        "    xor %eax, %eax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size guard_load, .-guard_load\n");

/* Copies; returns the number of bytes that could not be copied. */
__asm__(".text\n"
        ".type guarded_move, @function\n"
        "guarded_move:\n"
        "    .cfi_startproc\n"
        "    mov %rdx, %rcx\n"
        "guarded_move_load:\n"
        "    rep movsb\n"
        "guarded_move_done:\n"
        "    mov %rcx, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size guarded_move, .-guarded_move\n");

/* Copies words; returns the number of words that could not be copied. */
__asm__(".text\n"
        ".type guarded_words, @function\n"
        "guarded_words:\n"
        "    .cfi_startproc\n"
        "    xor %ecx, %ecx\n"
        "guarded_words_load:\n"
        "    mov (%rsi, %rcx, 8), %rax\n"
        "    mov %rax, (%rdi, %rcx, 8)\n"
        "    inc %rcx\n"
        "    cmp %rdx, %rcx\n"
        "    jb guarded_words_load\n"
        "guarded_words_done:\n"
        "    mov %rdx, %rax\n"
        "    sub %rcx, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size guarded_words, .-guarded_words\n");

size_t guarded_words(uint64_t *to, uint64_t from, size_t words)
    __attribute__((visibility("hidden")));
extern const char guarded_words_load[] __attribute__((visibility("hidden")));
extern const char guarded_words_done[] __attribute__((visibility("hidden")));
size_t guarded_move(void *to, uint64_t from, size_t size) __attribute__((visibility("hidden")));
extern const char guard_load_load[] __attribute__((visibility("hidden")));
extern const char guard_load_failed[] __attribute__((visibility("hidden")));
extern const char guarded_move_load[] __attribute__((visibility("hidden")));
extern const char guarded_move_done[] __attribute__((visibility("hidden")));

bool guard_fix_up(struct guard *guard, ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    if ((uintptr_t)reg[REG_RIP] == (uintptr_t)guard_load_load) {
        reg[REG_RIP] = (greg_t)(uintptr_t)guard_load_failed;
        return true;
    }
    if ((uintptr_t)reg[REG_RIP] == (uintptr_t)guarded_move_load) {
        reg[REG_RIP] = (greg_t)(uintptr_t)guarded_move_done;
        return true;
    }
    if ((uintptr_t)reg[REG_RIP] == (uintptr_t)guarded_words_load) {
        reg[REG_RIP] = (greg_t)(uintptr_t)guarded_words_done;
        return true;
    }
    return guard && guard_abandon(guard, context);
}

bool guard_abandon(struct guard *guard, ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    if (!guard->active)
        return false;
    guard->active = false;
    reg[REG_RBX] = (greg_t)guard->rbx;
    reg[REG_RBP] = (greg_t)guard->rbp;
    reg[REG_R12] = (greg_t)guard->r12;
    reg[REG_R13] = (greg_t)guard->r13;
    reg[REG_R14] = (greg_t)guard->r14;
    reg[REG_R15] = (greg_t)guard->r15;
    reg[REG_RSP] = (greg_t)guard->rsp;
    reg[REG_RIP] = (greg_t)guard->rip;
    reg[REG_RAX] = 1;
    return true;
}

bool guard_is_unblocked(uint64_t mask)
{
    return (mask & (sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS))) == 0;
}

bool guard_is_armed(uint64_t mask, void *handler)
{
    struct sys_sigaction now;
    if (!guard_is_unblocked(mask))
        return false;
    return sys_sigaction(SIGSEGV, NULL, &now) == 0 && now.handler == handler;
}

bool guard_copy(void *to, uint64_t from, size_t size, bool armed)
{
    if (armed)
        return guarded_move(to, from, size) == 0;
    struct iovec local = {.iov_base = to, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
    return sys6(SYS_process_vm_readv, sys_getpid(), SYS_ARG(&local), 1, SYS_ARG(&remote), 1, 0) ==
           (long)size;
}

/* ---- stacks and runtime data ---- */

#define SEARCHED_WORDS 4 /* of code that is only searched cost as much as one: 32 KB take 26 us */

/* The hooks on sigaction keep our handler of SIGSEGV installed; only a program that makes the
 * system call itself can replace it. So the kernel is asked at the first sample that needs a
 * guarded read, and then at one in this many. */
#define SAMPLES_PER_CHECK 64

static bool armed(struct memory *memory)
{
    if (memory->elsewhere)
        return false;
    if (memory->guard == MEMORY_GUARD_UNKNOWN) {
        bool ask = memory->checks++ % SAMPLES_PER_CHECK == 0;
        bool is_armed = ask ? guard_is_armed(memory->mask, memory->fault_handler)
                            : guard_is_unblocked(memory->mask);
        memory->guard = is_armed ? MEMORY_GUARD_ARMED : MEMORY_GUARD_KERNEL;
        if (!is_armed)
            memory->checks = 0;
    }
    return memory->guard == MEMORY_GUARD_ARMED;
}

/* Refuses non-canonical addresses, whose faults the kernel reports without an address, and the null
 * page. Both are frequent in garbage, and cheap to refuse. */
static bool plausible(uint64_t address, uint64_t size)
{
    return address >= 4096 && address < ((uint64_t)1 << 47) - size;
}

void memory_begin_sample(struct memory *memory, struct memory_pages *pages)
{
    memory->guard = MEMORY_GUARD_UNKNOWN;
    memory->budget = MEMORY_BUDGET;
    memory->searching = false;
    memory->compares = false;
    memory->pages = pages;
    memory->pages_used = false;
}

void memory_begin_comparison(struct memory *memory)
{
    memory->compares = memory->elsewhere != NULL;
}

/* The pages that it has read are of no use for other reads. */
void memory_end_comparison(struct memory *memory)
{
    memory->pages_used &= !memory->compares;
    memory->compares = false;
}

/* The copy of a page, NULL if it can't be read or the budget is spent. */
static const uint8_t *page_at(struct memory *memory, uint64_t address)
{
    struct memory_pages *pages = memory->pages;
    if (!memory->pages_used)
        memset(pages->address, 0, sizeof pages->address);
    memory->pages_used = true;
    for (unsigned i = 0; i < MEMORY_PAGES; i++)
        if (pages->address[i] == address)
            return pages->readable[i] ? pages->bytes[i] : NULL;
    bool is_stack = memory->elsewhere && !memory->searching;
    if (!memory_spend(memory, is_stack ? MEMORY_STACK_WORDS : MEMORY_PAGE_WORDS))
        return NULL;
    unsigned i = pages->next++ % MEMORY_PAGES;
    pages->address[i] = address;
    pages->readable[i] = memory->elsewhere
                             ? memory->elsewhere->read_page(memory, address, pages->bytes[i])
                             : guard_copy(pages->bytes[i], address, PAGE, false);
    return pages->readable[i] ? pages->bytes[i] : NULL;
}

/* Reads through the kernel, by page. */
static bool read_pages(struct memory *memory, uint64_t address, uint8_t *to, size_t size)
{
    if (memory_is_own(memory, address, size)) {
        memcpy(to, (const void *)(uintptr_t)(address + memory->own_distance), size);
        return true;
    }
    if (memory->reads_caught)
        return memory->elsewhere->read_caught(address, to, size);
    if (!memory->pages)
        return memory->elsewhere ? memory->elsewhere->read(address, to, size) : guard_copy(to, address, size, false);
    while (size > 0) {
        uint64_t in_page = address % PAGE;
        size_t part = size < PAGE - in_page ? size : PAGE - in_page;
        const uint8_t *page = page_at(memory, address - in_page);
        if (!page)
            return false;
        memcpy(to, page + in_page, part);
        to += part;
        address += part;
        size -= part;
    }
    return true;
}

/* Counts a read that does not go through the kernel; returns whether it succeeded. */
static bool counted(struct memory *memory, size_t size, bool succeeded)
{
    if (memory->searching)
        memory_spend(memory, succeeded ? (int32_t)((size + 7) / 8) : MEMORY_FAULT_WORDS);
    return succeeded;
}

bool memory_read_guarded(struct memory *memory, uint64_t address, void *to, size_t size)
{
    if (!plausible(address, size))
        return false;
    if (armed(memory))
        return counted(memory, size, guard_copy(to, address, size, true));
    return read_pages(memory, address, to, size);
}

bool memory_read_searched(struct memory *memory, uint64_t address, void *to, size_t size)
{
    bool searching = memory->searching;
    memory->searching = false;
    bool found = memory_spend(memory, (int32_t)(size / 8 / SEARCHED_WORDS)) &&
                 memory_read_guarded(memory, address, to, size);
    memory->searching = searching;
    return found;
}

bool memory_load_guarded(struct memory *memory, uint64_t address, uint64_t *value)
{
    if (!plausible(address, sizeof *value))
        return false;
    if (armed(memory))
        return counted(memory, sizeof *value, guard_load(address, value));
    return read_pages(memory, address, (uint8_t *)value, sizeof *value);
}

bool memory_load_words(struct memory *memory, uint64_t address, uint64_t *to, size_t words)
{
    if (!plausible(address, words * sizeof *to))
        return false;
    if (armed(memory))
        return counted(memory, words * sizeof *to, guarded_words(to, address, words) == 0);
    return read_pages(memory, address, (uint8_t *)to, words * sizeof *to);
}
