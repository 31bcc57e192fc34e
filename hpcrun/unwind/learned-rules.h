/* Signal handler: everything here runs in the sampling handler.
 *
 * A thread's cache of rules for code without unwind information, by pc. Such a rule comes from the
 * code (code-rule.h), or from guesses that agreed several times (fallback.c).
 *
 * Code that is made at run time may be replaced by other code. So a rule is kept with the 8 bytes of
 * code where the frame goes on, and holds only while they are there, and only if there is a return
 * address where the rule says. A wrong path would need other code with the same 8 bytes at the same
 * address, with another frame, and in it an old return address where the rule looks for it. */
#ifndef HPCRUN_UNWIND_LEARNED_RULES_H
#define HPCRUN_UNWIND_LEARNED_RULES_H

#include "hpcrun/unwind/rule.h"

#define LEARNED_SET_BITS 10
#define LEARNED_WAYS     4

/* From this number of equal results in a row, guesses are believed. */
#define LEARNED_SURE 4

struct learned_rule {
    uint64_t pc;      /* as in struct frame; 0: empty */
    uint64_t code;    /* the bytes where the frame goes on */
    struct rule rule; /* a regular one; RULE_NONE: none is known */
    uint32_t seen;    /* number of equal results in a row, RULE_NONE being one, too */
    uint32_t refused; /* number of uses of an entry with RULE_NONE since the last search */
};

/* Zeroed memory is empty. */
struct learned_rules {
    struct learned_rule way[1u << LEARNED_SET_BITS][LEARNED_WAYS];
    bool any; /* there are entries: memory that was never used need not be cleared */
};

/* The entry for `pc`; NULL if there is none, or if it was made for other code. */
struct learned_rule *learned_find(struct learned_rules *rules, uint64_t pc, uint64_t code);

/* Makes an empty entry for `pc`, in the place of an old one for it, or of the oldest in its set. */
struct learned_rule *learned_add(struct learned_rules *rules, uint64_t pc, uint64_t code);

void learned_clear(struct learned_rules *rules);

#endif
