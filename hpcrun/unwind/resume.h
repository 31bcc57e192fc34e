/* Signal handler: everything here runs in the sampling handler; no state, no libc.
 *
 * Code that goes on in another frame than its caller's, as the functions of libgcc do that raise
 * exceptions (gcc's __builtin_eh_return). Such a function has saved its caller's registers, those
 * too by which a landing pad gets its arguments, rax and rdx. It then
 *
 *   copies those of the frame to go on in over them, one by one: rbp among them, the return
 *   address at last;
 *   loads them all;
 *   takes the other frame's stack pointer and jumps to its landing pad.
 *
 * The unwind tables say nothing of the copies: until the registers are loaded they lead to the
 * caller, to the other frame with the caller's stack pointer, or to a mixture. Which pcs these are
 * is found out here, what to make of such a step in resume-step.h. */
#ifndef HPCRUN_UNWIND_RESUME_H
#define HPCRUN_UNWIND_RESUME_H

#include "hpcrun/unwind/cfi.h"

/* Whether the row is of a function that can do this, where it has saved the registers. */
bool resume_may_come(const struct cfi_row *row);

/* Whether the row is of the instructions behind the loads: it leads to the other frame, and the
 * address there is one that is jumped to. */
bool resume_is_done(const struct cfi_row *row);

/* Where, of the code [start, end) behind which it is done, it may have begun: the address that a
 * frame has (struct frame) whose callee makes the copies. The code lies in a module from
 * `module_start` to `module_end`. */
uint64_t resume_begin(uint64_t start, uint64_t end, uint64_t module_start, uint64_t module_end);

#endif
