/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Hand-written code that aligns its stack may keep the old stack pointer in a register, and take it
 * back at its end, as OpenBLAS's kernels do:
 *
 *     sub $96, %rsp
 *     mov %rsp, %rbx
 *     and $-4096, %rsp
 *     ...                   the sample is here, up to 28 KB before the end
 *     mov %rbx, %rsp
 *     add $96, %rsp
 *     ret
 *
 * Following more instructions than code-rule.h does takes too long. So the instruction that takes the
 * register back is found by its bytes, and the code followed from there. These bytes may also be
 * part of another instruction, or of another function: a result counts only if there is the return
 * address of a call that may have called this code. Only in modules: compilers at run time use
 * these registers for stack pointers of other kinds (HotSpot's %r13).
 *
 * Registers that hold another address on the stack are frequent (argv, in the dynamic linker). So
 * the code is read once for all of them. */
#ifndef HPCRUN_UNWIND_SAVED_SP_H
#define HPCRUN_UNWIND_SAVED_SP_H

#include "hpcrun/unwind/frame.h"

#include <ucontext.h>

/* Whether the frame, whose registers these are (NULL: not known), may have aligned its stack and kept
 * the old stack pointer in the register with that number in machine code (rbx is 3). Sets *saved_sp to
 * its value. */
bool saved_sp_is_in(const ucontext_t *registers, const struct frame *frame, unsigned number,
                    uint64_t *saved_sp);

/* A search from the frame's pc on. Zeroed but for `registers` and `frame`, it has not begun. */
struct saved_sp_search {
    const ucontext_t *registers;
    const struct frame *frame;
    uint32_t refused; /* registers that are not searched for, a bit each */
    uint64_t offset;  /* of the code that comes next, from the pc */
};

/* Finds the next `mov %REGISTER, %rsp` of rbx or r12 to r15 that may hold the old stack pointer. Sets
 * *number to that register, which is not searched for again, and *later to the frame as it will be
 * after the instruction. False if there is none in reach, or the budget is spent. */
bool saved_sp_find(struct saved_sp_search *search, struct memory *memory, unsigned *number,
                   struct frame *later);

#endif
