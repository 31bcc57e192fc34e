/* Signal handler: everything here runs in the sampling handler, in a guarded region (memory.h).
 *
 * The number of a system call that has just returned. The call's result has replaced the number in
 * rax, and the kernel shows it nowhere else. So the code says where it came from. Examples:
 *
 *     mov  $0xe8, %eax            a constant, as in most code
 *     syscall
 *
 *     mov  %r8d, %eax             a register that still has it: system calls change rax, rcx and
 *     syscall                     r11 only
 *
 *     mov  0x10(%rsp), %rax       a word of the stack that still has it (glibc 2.41)
 *     syscall
 *
 *     mov  %rdi, %rax             the first argument of a function (syscall in glibc). The same is
 *     mov  %rsi, %rdi             asked of its caller: mov $0xe8, %edi; call syscall
 *     ...
 *     syscall
 *
 * A wrong number would make another system call, so nothing is guessed. The code is decoded from
 * the begin of its function, by the FDE: then the bounds of instructions are known. Values are
 * followed only from the last place to which anything in the function jumps: there is one way from
 * there to the system call. A function with an indirect jump could jump anywhere, so its calls are
 * not known, unless the jump follows the removal of the frame: then it is a tail call.
 *
 * Code without an FDE must have the constant right before the instruction, or be a function that is
 * aligned and padded as Go's are, and whose return address is that of a call of it. */
#ifndef HPCRUN_RESTART_CALL_NUMBER_H
#define HPCRUN_RESTART_CALL_NUMBER_H

#include "hpcrun/unwind/memory.h"
#include "hpcrun/unwind/rule-cache.h"

/* The number of the call that ends at the context's pc; -1 if that is not after a syscall instruction,
 * or if the number is not known. */
long call_number(const ucontext_t *context, struct memory *memory, struct rule_cache *cache);

#endif
