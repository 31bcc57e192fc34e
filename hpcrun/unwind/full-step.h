/* Signal handler: everything here runs in the sampling handler.
 *
 * Unwinding with all registers, for the rare frames whose rule needs more than sp and rbp. */
#ifndef HPCRUN_UNWIND_FULL_STEP_H
#define HPCRUN_UNWIND_FULL_STEP_H

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/memory.h"

/* Walks from `context` to the frame that has this pc (as in struct frame) and sp, and one step
 * further: its caller's return address, sp and rbp. At most `max_frames` frames; false when that
 * frame is not met or some rule can't be evaluated. In a guarded region. */
bool full_step_from(const ucontext_t *context, struct memory *memory, struct cfi_scratch *scratch,
                    uint64_t pc, uint64_t sp, unsigned max_frames, uint64_t *caller_ra,
                    uint64_t *caller_sp, uint64_t *caller_bp);

#endif
