/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Steps from a frame to its caller where the rule in one word (rule.h) is not enough. */
#ifndef HPCRUN_UNWIND_IRREGULAR_STEP_H
#define HPCRUN_UNWIND_IRREGULAR_STEP_H

#include "hpcrun/unwind/code-rule.h"
#include "hpcrun/unwind/frame.h"

/* ---- all registers: full-step.c ---- */

/* Walks with all registers from `context` to the frame with this pc (as in struct frame) and sp, at
 * most `max_frames` frames, and one step further: to its caller's return address, sp and rbp. False
 * if that frame is not found or some rule can't be evaluated. */
bool full_step_from(const ucontext_t *context, struct memory *memory, struct cfi_scratch *scratch,
                    uint64_t pc, uint64_t sp, unsigned max_frames, uint64_t *caller_ra,
                    uint64_t *caller_sp, uint64_t *caller_bp);

/* ---- a frame that may be about to resume another one: eh-return-step.c ---- */

/* From a frame with RULE_EH_RETURNING to its caller, or to the frame that it is about to resume.
 * Sets frame->link. False if it is not known which of the two it is, or if unwinding further would
 * need a register that may belong to the other one. */
bool eh_return_step(struct memory *memory, struct rule_cache *cache, struct rule rule,
                    struct frame *frame, struct frame *caller);

/* ---- a frame that takes another stack: context-step.c ---- */

/* From a leaf in setcontext or swapcontext of glibc. These take the stack pointer of the context that
 * they resume, then its other registers, and push the address at which it goes on only then: up to
 * there unwind information leads into data. A new context goes on at a function's begin, so that
 * what was pushed is no return address. rdx points to the context until the last instruction but one.
 * Sets frame->link. False if rdx points to no context with this stack pointer. */
bool context_step(const ucontext_t *interrupted, struct memory *memory, struct frame *frame,
                  struct frame *caller);

/* ---- no unwind information: fallback.c ---- */

/* Finds the caller of a frame. In this order:
 *
 *   learned        the rule that an earlier search found for this pc (learned-rules.h)
 *   code           the rule that the code itself gives (code-rule.h)
 *   carried out    what the code computes (carry-out.h); only in modules, as all that follow
 *   saved sp       what leads from the old stack pointer in a register (saved-sp.h)
 *   top of stack   one of the first words at sp, as in a PLT entry or at a function's first
 *                  instruction
 *   frame pointer  rbp points to the saved rbp and the return address
 *   stack scan     the first return address within 64 words
 *
 * Each result is accepted only if it is a plausible return address (return-address.h). The last
 * three are guesses, since earlier calls may have left return addresses on the stack. So a guess is
 * replaced if a call within 64 words calls this code for sure, and the guessed path passes over it.
 * A rule from the code is used from then on, a guess after it was the same several times.
 *
 * Sets frame->link. STEP_OUTERMOST: the frame may be the first on its stack, and its code never
 * returns. STEP_FAILED if nothing fits, or when the budget is spent (memory.h). */
enum step fallback_step(struct memory *memory, struct rule_cache *cache,
                        const struct bare_frame *bare, struct frame *caller);

/* The same for code whose unwind information is wrong: only by its code. */
bool fallback_step_by_code(struct memory *memory, struct rule_cache *cache,
                           const struct bare_frame *bare, struct frame *caller);

#endif
