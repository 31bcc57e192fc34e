/* The frame pointer of a thread that waits: the kernel shows its instruction and stack pointer only.
 *
 * Most code needs no rbp to find its caller. Code that does has set it in its prologue, so its distance from the stack
 * pointer is a constant, which the instructions from the function's begin to the call tell:
 *
 *     push %rbp; mov %rsp, %rbp; sub $32, %rsp; ... call nanosleep      rbp = sp + 32 at the call */
#ifndef HPCRUN_OUTSIDE_UNKNOWN_BP_H
#define HPCRUN_OUTSIDE_UNKNOWN_BP_H

#include "hpcrun/unwind/unwind.h"

/* The rbp that the innermost frame that needs it, and those inside of it, have; 0: unknown, or not needed. In a
 * guarded region, after unwind_prepare. */
uint64_t unknown_bp_find(struct unwinder *u, uint64_t pc, uint64_t sp);

#endif
