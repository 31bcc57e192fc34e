/* Signal handler: everything here runs in the sampling handler.
 *
 * What to try for a frame without unwind information. A guess must pass a test: the candidate
 * return address lies behind a call instruction. */
#ifndef HPCRUN_UNWIND_FALLBACK_H
#define HPCRUN_UNWIND_FALLBACK_H

#include "hpcrun/unwind/frame.h"

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
