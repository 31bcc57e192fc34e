/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * The unwind rule of code without unwind information, from the code itself: the instructions are
 * followed to the return. Their effects on rsp and rbp tell where the return address is now, and
 * where the caller's rbp is:
 *
 *     pc: add $24, %rsp      sp + 24
 *         pop %rbp           the caller's rbp is at sp + 24
 *         ret                the return address is at sp + 32
 *
 * It does not matter which way is followed at a conditional jump: wherever ways meet, code has the
 * same stack. So first the jump is not taken. If this way does not come to a return (it ends in a
 * call that never returns, an indirect jump, or a loop), the other ways are tried.
 *
 * A way may lead astray, behind a call that never returns, into other code or data. So a result
 * counts only if there is a return address where it says. */
#ifndef HPCRUN_UNWIND_CODE_RULE_H
#define HPCRUN_UNWIND_CODE_RULE_H

#include "hpcrun/unwind/frame.h"

#include <ucontext.h>

/* A frame without unwind information. */
struct bare_frame {
    struct frame *frame;
    const ucontext_t *registers; /* of the frame; NULL: only sp and rbp are known */
    bool interrupted;            /* its pc is where it goes on; else the return address is */
    bool may_end;                /* it may be the first on its stack: not on the thread's own */
};

/* CODE_NEVER_RETURNS: no way leads to a return. Only of code in modules. */
enum code_result { CODE_HAS_NO_RULE, CODE_HAS_RULE, CODE_NEVER_RETURNS };

/* The rule of a frame: RULE_CFA_SP, RULE_CFA_BP or RULE_CFA_AT_SP. If no way leads to a return whose
 * return address is there, other signs count in code made at run time:
 *
 *  1. a way leads to a function's prologue, and there is a return address where that expects it;
 *  2. the code uses rbp as a frame pointer does, with negative offsets, or the code around it has
 *     frame pointers (learned-rules.h);
 *  3. a way leads to the code from a prologue before it.
 *
 * No rule if nothing fits, or when the budget is spent (memory.h). The rules of other code on the way
 * are learned, too. */
enum code_result code_rule(struct memory *memory, struct rule_cache *cache,
                           const struct bare_frame *bare, struct stack_rule *found);

#endif
