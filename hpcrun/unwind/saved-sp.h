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
 * Following so many instructions (code-rule.h) takes too long. So the instruction that takes the
 * register back is found by its bytes, and the code followed from there. These bytes may also be
 * part of another instruction, or of another function: a result counts only if there is the return
 * address of a call that may have called this code. Only in modules: compilers at run time use
 * these registers for stack pointers of other kinds (HotSpot's %r13). */
#ifndef HPCRUN_UNWIND_SAVED_SP_H
#define HPCRUN_UNWIND_SAVED_SP_H

#include "hpcrun/unwind/frame.h"

#include <ucontext.h>

/* Registers that may hold the old stack pointer: callee-saved ones, by their numbers in machine
 * code. */
#define SAVED_SP_REGISTERS {3, 12, 13, 14, 15}

/* Whether the leaf, whose registers are in `leaf`, may have aligned its stack and kept the old stack
 * pointer in the register with that number. */
bool saved_sp_may_be_in(const ucontext_t *leaf, const struct frame *frame, unsigned number);

/* The leaf as it will be behind the next `mov %REGISTER, %rsp`; false if there is none in reach. */
bool saved_sp_frame(const ucontext_t *leaf, struct memory *memory, const struct frame *frame,
                    unsigned number, struct frame *later);

/* The value of a register of SAVED_SP_REGISTERS. */
uint64_t saved_sp_value(const ucontext_t *leaf, unsigned number);

#endif
