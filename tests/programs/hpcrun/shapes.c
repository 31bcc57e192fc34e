/* Assembly code without unwind information, in many shapes. Each shape has a caller and a function
 * that it calls back, both of its own: calls_NAME -> NAME -> back_NAME. Below each frame lie return
 * addresses that earlier calls have left. Then the same code is copied to memory, all to the same
 * place, one after the other: calls_copy_NAME -> ? -> back_copy_NAME. Single steps (unwind-steps)
 * begin and end with int3. */
#include "litter.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

typedef void callback(void);
typedef void shape(callback *back);

#define SHAPE(name, text)                                                                          \
    void name(callback *back);                                                                     \
    extern const char end_of_##name[];                                                             \
    __asm__(".text\n.type " #name ", @function\n" #name ":\n" text "\nend_of_" #name ":\n"         \
            ".size " #name ", . - " #name "\n.skip 16, 0xcc\n");

/* A loop, no frame. */
SHAPE(leaf, "mov $5, %ecx\n1: dec %ecx\n jnz 1b\n call *%rdi\n ret")

/* Saved registers, a frame with room for the rests of earlier calls, rbp used for data. */
SHAPE(pushes, "push %rbx\n push %rbp\n push %r12\n sub $1008, %rsp\n mov %rdi, %rbp\n"
              "test %rbp, %rbp\n jz 2f\n call *%rbp\n"
              "1: add $1008, %rsp\n pop %r12\n pop %rbp\n pop %rbx\n ret\n 2: ud2")

SHAPE(pointer, "push %rbp\n mov %rsp, %rbp\n sub $240, %rsp\n call *%rdi\n leave\n ret")

SHAPE(aligned, "push %rbp\n mov %rsp, %rbp\n push %rbx\n and $-64, %rsp\n sub $320, %rsp\n"
               "call *%rdi\n lea -8(%rbp), %rsp\n pop %rbx\n pop %rbp\n ret")

/* rbp saved by a move, as HotSpot does. */
SHAPE(moves, "sub $264, %rsp\n mov %rbp, 256(%rsp)\n xor %ebp, %ebp\n call *%rdi\n"
             "mov 256(%rsp), %rbp\n add $264, %rsp\n ret")

/* Two exits, a loop around the call, and code that is never reached behind a call. */
SHAPE(exits, "push %rbx\n push %r12\n sub $200, %rsp\n mov %rdi, %r12\n mov $2, %ebx\n"
             "1: cmp $9, %ebx\n je 3f\n call *%r12\n dec %ebx\n js 4f\n jnz 1b\n jmp 2f\n"
             "3: add $200, %rsp\n pop %r12\n pop %rbx\n ret\n"
             "4: call *%r12\n ud2\n"
             "2: add $200, %rsp\n pop %r12\n pop %rbx\n ret")

/* A subroutine within the function: two frames of the same code. */
SHAPE(inner, "push %rbx\n sub $160, %rsp\n call 1f\n add $160, %rsp\n pop %rbx\n ret\n"
             "1: push %rax\n sub $64, %rsp\n call *%rdi\n add $64, %rsp\n pop %rax\n ret")

/* Calls a subroutine with two words on the stack, which that removes, as V8's functions do. */
SHAPE(removes, "push %rbp\n mov %rsp, %rbp\n push %rax\n push %rax\n call 1f\n mov %rbp, %rsp\n"
               "pop %rbp\n ret\n"
               "1: push %rbx\n sub $96, %rsp\n call *%rdi\n add $96, %rsp\n pop %rbx\n pop %rcx\n"
               "lea 16(%rsp), %rsp\n push %rcx\n ret")

/* Ends in a jump to another function with a frame of its own. */
SHAPE(jumps, "push %rbx\n sub $32, %rsp\n nop\n add $32, %rsp\n pop %rbx\n jmp 1f\n ud2\n"
             "1: sub $136, %rsp\n call *%rdi\n add $136, %rsp\n ret")

/* A loop whose exit is at its begin: the way back to there passes code from before. */
SHAPE(rounds, "push %rbx\n push %r12\n sub $104, %rsp\n mov %rdi, %r12\n mov $2, %ebx\n"
              "1: dec %ebx\n js 4f\n cmp $8, %ebx\n je 2f\n call *%r12\n"
              "2: cmp $9, %ebx\n jne 3f\n nop\n 3: test %ebx, %ebx\n js 2b\n jmp 1b\n ud2\n"
              "4: add $104, %rsp\n pop %r12\n pop %rbx\n ret")

/* A jump table before the end. */
SHAPE(table, "push %rbx\n push %rbp\n sub $200, %rsp\n xor %ebp, %ebp\n call *%rdi\n"
             "lea 2f(%rip), %rdx\n movslq 4(%rdx), %rax\n add %rdx, %rax\n jmp *%rax\n ud2\n"
             "1: add $200, %rsp\n pop %rbp\n pop %rbx\n ret\n"
             "2: .long 1b - 2b, 1b - 2b")

/* The old stack pointer in the frame, as in x265. */
SHAPE(slot, "push %rbx\n mov %rsp, %rax\n and $-64, %rsp\n sub $320, %rsp\n mov %rax, 256(%rsp)\n"
            "call *%rdi\n mov 256(%rsp), %rsp\n pop %rbx\n ret")

/* An instruction that begins with a byte of 0. */
SHAPE(adds, "sub $72, %rsp\n add %al, %cl\n call *%rdi\n add %al, %cl\n add $72, %rsp\n ret")

/* A stub that goes to its function through memory. */
SHAPE(stub, "lea 1f(%rip), %rax\n mov %rax, -16(%rsp)\n jmp *-16(%rsp)\n ud2\n"
            "1: sub $136, %rsp\n call *%rdi\n add $136, %rsp\n ret")

/* The end is reached by a jump that tells nothing, as in HotSpot's loops that are entered in the middle. */
SHAPE(leaves, "push %rbp\n mov %rsp, %rbp\n sub $208, %rsp\n xor %eax, %eax\n"
              "test %eax, %eax\n jne 2f\n 1: call *%rdi\n lea 3f(%rip), %rcx\n jmp *%rcx\n ud2\n"
              "2: jmp 1b\n ud2\n 3: leave\n ret")

#define CALL_CHAIN(name, what)                                                                     \
    __attribute__((noinline)) static void back_##name(void)                                        \
    {                                                                                              \
        sink++;                                                                                    \
    }                                                                                              \
    __attribute__((noinline)) static void calls_##name(shape *what)                                \
    {                                                                                              \
        litter(30);                                                                                \
        what(back_##name);                                                                         \
        sink++;                                                                                    \
    }

#define SHAPES(DO)                                                                                 \
    DO(leaf) DO(pushes) DO(pointer) DO(aligned) DO(moves) DO(exits) DO(inner) DO(removes) DO(jumps)  \
    DO(rounds) DO(table) DO(slot) DO(adds) DO(stub) DO(leaves)

#define CHAIN(name) CALL_CHAIN(name, name_) CALL_CHAIN(copy_##name, copied)
SHAPES(CHAIN)

static uint8_t *page;

__attribute__((noinline)) static void copy(shape *from, const char *end)
{
    const char *begin = (const char *)(uintptr_t)from;
    memset(page, 0xcc, 4096);
    memcpy(page, begin, (size_t)(end - begin));
}

#define RUN(name)                                                                                  \
    __asm__ volatile("int3");                                                                      \
    calls_##name(name);                                                                            \
    __asm__ volatile("int3");                                                                      \
    copy(name, end_of_##name);                                                                     \
    __asm__ volatile("int3");                                                                      \
    calls_copy_##name((shape *)(uintptr_t)page);                                                   \
    __asm__ volatile("int3");

int main(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    for (int i = 0; i < 3; i++) {
        SHAPES(RUN)
    }
    return 0;
}
