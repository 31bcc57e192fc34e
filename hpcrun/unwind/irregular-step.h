/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Steps from a frame to its caller where the rule in one word (rule.h) is not enough. */
#ifndef HPCRUN_UNWIND_IRREGULAR_STEP_H
#define HPCRUN_UNWIND_IRREGULAR_STEP_H

#include "hpcrun/unwind/frame.h"

/* ---- all registers: full-step.c ---- */

/* Walks from `context` to the frame that has this pc (as in struct frame) and sp, and one step
 * further: its caller's return address, sp and rbp. At most `max_frames` frames; false when that
 * frame is not met or some rule can't be evaluated. In a guarded region. */
bool full_step_from(const ucontext_t *context, struct memory *memory, struct cfi_scratch *scratch,
                    uint64_t pc, uint64_t sp, unsigned max_frames, uint64_t *caller_ra,
                    uint64_t *caller_sp, uint64_t *caller_bp);

/* ---- a frame that may be resuming another one: eh-return-step.c ---- */

/* From a frame that has RULE_EH_RETURNING to its caller, or to the frame that it goes on in; sets
 * frame->link. False where it can't be told which it is, and where unwinding on would need a
 * register that may be the other's. In a guarded region. */
bool eh_return_step(struct memory *memory, struct rule_cache *cache, struct rule rule,
                    struct frame *frame, struct frame *caller);

/* ---- no unwind information: fallback.c ---- */

/* Finds the caller of `frame`. `interrupted` says that frame->pc is where a signal struck, so that
 * the return address may still be at the top of the stack. Tries, in this order:
 *
 *   top of stack   one of the first words at sp, as in a PLT entry or at a function's first
 *                  instruction
 *   frame pointer  rbp points to the saved rbp and the return address
 *   stack scan     the first return address within 64 words
 *
 * What earlier calls left there is told from the truth by a call within 64 words that surely led to
 * this code: a path that passes over it is not true. Returns false when nothing fits. In a guarded
 * region. */
bool fallback_step(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                   bool interrupted, struct frame *caller);

#endif
