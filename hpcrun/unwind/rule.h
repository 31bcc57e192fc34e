/* Signal handler: everything here runs in the sampling handler.
 *
 * An unwind rule in one word: the step from a frame's pc, sp and rbp to its caller's. These
 * registers are enough for all but one frame in ten thousand of optimized code. The others have
 * RULE_FULL, and the step uses all registers (full-step.c). */
#ifndef HPCRUN_UNWIND_RULE_H
#define HPCRUN_UNWIND_RULE_H

#include "hpcrun/unwind/cfi.h"

enum rule_kind {
    RULE_NONE = 0,     /* an empty cache entry */
    RULE_CFA_SP,       /* CFA = sp + offset */
    RULE_CFA_BP,       /* CFA = rbp + offset */
    RULE_CFA_AT_BP,    /* CFA = the word at rbp + offset (a realigned stack) */
    RULE_CFA_AT_SP,    /* CFA = the word at sp + rule_slot + rule_added; only of code-rule.h */
    RULE_OUTERMOST,    /* the frame has no caller */
    RULE_SIGNAL,       /* a signal frame: the caller's registers are in the ucontext at sp */
    RULE_FULL,         /* needs other registers, or an expression */
    RULE_EH_RETURNED,  /* as RULE_FULL; the result is a landing pad, not a return address */
    RULE_EH_RETURNING, /* as RULE_CFA_BP, but saved registers may be overwritten */
    RULE_NO_FDE,       /* no unwind information for the pc */
};

/* The place of the caller's rbp: unchanged, saved relative to the CFA, or relative to rbp. */
enum rule_bp { BP_SAME, BP_AT_CFA, BP_AT_BP };

struct rule {
    uint8_t kind : 4;
    uint8_t bp : 2;
    uint8_t hidden : 1; /* the frame is hpcrun's own: it is not recorded */
    uint8_t begins : 1; /* a function or a PLT entry begins after the pc: a return address there is
                           made up if no call is before it (unwind.h) */
    int32_t bp_offset : 24;
    int32_t cfa_offset;
};

_Static_assert(sizeof(struct rule) == 8, "a rule is one word");

/* cfa_offset of RULE_CFA_AT_SP has both of these; the second is a number of words, at most 255. */
#define RULE_SLOT_UNIT 256

static inline int32_t rule_slot(struct rule rule)
{
    return rule.cfa_offset / RULE_SLOT_UNIT;
}

static inline int32_t rule_added(struct rule rule)
{
    return 8 * (rule.cfa_offset % RULE_SLOT_UNIT);
}

/* The rule of a row at `pc`; the expressions of the PLT depend on pc. */
struct rule rule_from_row(const struct cfi_row *row, uint64_t pc);

/* ---- code that resumes another frame ----
 *
 * The functions of libgcc that raise exceptions (gcc's __builtin_eh_return) do not return to their
 * caller: they resume another frame at a landing pad. Such a function has saved its caller's
 * registers, including rax and rdx, which carry the arguments of a landing pad. Then it
 *
 *   1. overwrites the saved registers with those of the frame to resume, one by one: rbp among
 * them, the return address last;
 *   2. loads them all;
 *   3. takes the other frame's stack pointer and jumps to its landing pad.
 *
 * The unwind tables do not describe step 1: until step 2 is done, they lead to the caller, to the
 * other frame with the caller's stack pointer, or to a mixture. The functions below find the
 * affected addresses; eh-return-step.c does the step. */

/* Whether the row belongs to such a function, with its registers saved. */
bool eh_return_may_follow(const struct cfi_row *row);

/* Whether the row belongs to the instructions after step 2: it leads to the other frame, and its
 * return address is a landing pad. */
bool eh_return_is_done(const struct cfi_row *row);

/* The first address in [start, end) at which step 1 may have begun, as a pc of struct frame; `end`
 * is the end of step 2. The code lies in the module [module_start, module_end). */
uint64_t eh_return_begin(uint64_t start, uint64_t end, uint64_t module_start, uint64_t module_end);

#endif
