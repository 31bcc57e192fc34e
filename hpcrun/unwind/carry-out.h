/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Finds the caller of a frame without unwind information by carrying out its code, from where it goes on
 * up to its return, with the registers and the memory that it has now. Only straight on: no conditional
 * jump is taken. Nothing is written: later reads see what the code has stored.
 *
 * This is for functions that compute the stack pointer of another stack, so that no rule for it is left:
 * Go's asmcgocall calls C on the thread's stack, and finds its goroutine's stack again by a structure of
 * the runtime:
 *
 *     mov 0x30(%rsp), %rdi      the goroutine
 *     mov 8(%rdi), %rsi         the top of its stack
 *     sub 0x28(%rsp), %rsi      its depth
 *     mov %rsi, %rsp
 *     ret */
#ifndef HPCRUN_UNWIND_CARRY_OUT_H
#define HPCRUN_UNWIND_CARRY_OUT_H

#include "hpcrun/unwind/code-rule.h"

/* False if the code does something else than moving and calculating, if its return address depends on
 * a register that is not known, or if it is none. */
bool carry_out(struct memory *memory, const struct bare_frame *bare, struct frame *caller);

#endif
