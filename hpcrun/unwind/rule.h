/* Signal handler: everything here runs in the sampling handler.
 *
 * An unwind rule in one word: how to get from a frame, known by its pc, sp and rbp, to its
 * caller's. Two registers are enough for all but one frame in ten thousand of optimized code; the
 * rest have the kind RULE_FULL and are stepped over with all registers (unwind.c). */
#ifndef HPCRUN_UNWIND_RULE_H
#define HPCRUN_UNWIND_RULE_H

#include "hpcrun/unwind/cfi.h"

enum rule_kind {
    RULE_NONE = 0,  /* an empty cache entry */
    RULE_CFA_SP,    /* CFA = sp + offset */
    RULE_CFA_BP,    /* CFA = rbp + offset */
    RULE_CFA_AT_BP, /* CFA = the word at rbp + offset (a realigned stack) */
    RULE_OUTERMOST, /* the frame has no caller */
    RULE_SIGNAL,    /* a signal frame: the caller's registers are in the ucontext at sp */
    RULE_FULL,      /* needs other registers, or an expression */
    RULE_RESUMED,   /* as RULE_FULL; the caller goes on where it did not call (resume.h) */
    RULE_RESUMING,  /* as RULE_CFA_BP, but perhaps no longer true (resume.h) */
    RULE_NO_FDE,    /* nothing is known about the pc */
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

#endif
