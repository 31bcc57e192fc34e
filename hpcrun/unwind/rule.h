/* Signal handler: everything here runs in the sampling handler.
 *
 * An unwind rule in one word: how to get from a frame, known by its pc, sp and rbp, to its
 * caller's. Two registers are enough for all but one frame in ten thousand of optimized code; the
 * rest have the kind RULE_FULL and are stepped over with all registers (unwind.c). */
#ifndef HPCRUN_UNWIND_RULE_H
#define HPCRUN_UNWIND_RULE_H

#include "hpcrun/unwind/cfi.h"

enum rule_kind {
    RULE_NONE = 0,     /* an empty cache entry */
    RULE_CFA_SP,       /* CFA = sp + offset */
    RULE_CFA_BP,       /* CFA = rbp + offset */
    RULE_CFA_AT_BP,    /* CFA = the word at rbp + offset (a realigned stack) */
    RULE_OUTERMOST,    /* the frame has no caller */
    RULE_SIGNAL,       /* a signal frame: the caller's registers are in the ucontext at sp */
    RULE_FULL,         /* needs other registers, or an expression */
    RULE_EH_RETURNED,  /* as RULE_FULL; the caller goes on where it did not call (resume.h) */
    RULE_EH_RETURNING, /* as RULE_CFA_BP, but perhaps no longer true (resume.h) */
    RULE_NO_FDE,       /* nothing is known about the pc */
};

/* Where the caller's rbp is. */
enum rule_bp { BP_SAME, BP_AT_CFA, BP_AT_BP };

struct rule {
    uint8_t kind : 4;
    uint8_t bp : 2;
    uint8_t hidden : 1; /* the frame belongs to hpcrun itself: step over it, don't record it */
    int32_t bp_offset : 24;
    int32_t cfa_offset;
};

_Static_assert(sizeof(struct rule) == 8, "a rule is one word");

/* The rule that a row means at `pc` (which the PLT's expressions test). */
struct rule rule_from_row(const struct cfi_row *row, uint64_t pc);

/* ---- code that resumes another frame ----
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

/* Whether the row is of a function that can do this, where it has saved the registers. */
bool eh_return_may_follow(const struct cfi_row *row);

/* Whether the row is of the instructions behind the loads: it leads to the other frame, and the
 * address there is one that is jumped to. */
bool eh_return_is_done(const struct cfi_row *row);

/* Where, of the code [start, end) behind which it is done, it may have begun: the address that a
 * frame has (struct frame) whose callee makes the copies. The code lies in a module from
 * `module_start` to `module_end`. */
uint64_t eh_return_begin(uint64_t start, uint64_t end, uint64_t module_start, uint64_t module_end);

#endif
