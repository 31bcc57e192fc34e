/* Signal handler: everything here runs in the sampling handler.
 *
 * A thread's cache of rules for code without unwind information, by pc. Such a rule comes from the
 * code (code-rule.h), or from guesses that agreed several times (fallback.c).
 *
 * Code that is made at run time may be replaced by other code. So a rule is kept with the 8
 * bytes of code where the frame goes on, and holds only while they are there, and only if there
 * is a return address where the rule says. A wrong path would need other code with the same 8
 * bytes at the same address, with another frame, and in it an old return address where the rule
 * looks for it. */
#ifndef HPCRUN_UNWIND_LEARNED_RULES_H
#define HPCRUN_UNWIND_LEARNED_RULES_H

#include "hpcrun/unwind/rule.h"

#include <string.h>

#define LEARNED_SET_BITS 10
#define LEARNED_WAYS     4

/* From this number of equal results in a row, guesses are believed. */
#define LEARNED_SURE 4

static inline bool rule_is_same(struct rule a, struct rule b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* A rule, and the register that it needs in place of sp (saved-sp.h), + 1; 0: sp. */
struct stack_rule {
    struct rule rule; /* a regular one; RULE_NONE: none is known */
    uint32_t saved_sp;
};

struct learned_rule {
    uint64_t pc;   /* as in struct frame; 0: empty */
    uint64_t code; /* the bytes where the frame goes on */
    struct stack_rule found;
    uint32_t seen;    /* number of equal guesses in a row */
    uint32_t refused; /* number of uses of an entry with RULE_NONE */
};

/* A region of code made at run time, 1 MiB: how often rbp was a frame pointer in frames whose code
 * restores the caller's rbp, or uses rbp as a frame pointer, and how often it was not. */
#define LEARNED_REGION_BITS 20
#define LEARNED_REGIONS     64

struct learned_region {
    uint64_t number; /* the address >> LEARNED_REGION_BITS */
    uint32_t agree, differ;
};

/* Code in a module that has one rule, within a block of LEARNED_BLOCK bytes. */
struct learned_range {
    uint64_t first, last; /* addresses; 0: empty */
    struct stack_rule found;
};

#define LEARNED_BLOCK          256
#define LEARNED_RANGE_SET_BITS 9

/* Zeroed memory is empty. */
struct learned_rules {
    struct learned_region region[LEARNED_REGIONS]; /* by number % LEARNED_REGIONS */
    struct learned_rule way[1u << LEARNED_SET_BITS][LEARNED_WAYS];
    struct learned_range range[1u << LEARNED_RANGE_SET_BITS][LEARNED_WAYS];
    bool any; /* there are entries: memory that was never used need not be cleared */
};

/* The entry for `pc`; NULL if there is none, or if it was made for other code. */
struct learned_rule *learned_find(struct learned_rules *rules, uint64_t pc, uint64_t code);

/* Makes an empty entry for `pc`, in the place of an old one for it, or of the oldest in its set. */
struct learned_rule *learned_add(struct learned_rules *rules, uint64_t pc, uint64_t code);

/* The range that contains `pc`; NULL if there is none. */
const struct learned_range *learned_range_find(const struct learned_rules *rules, uint64_t pc);

void learned_range_add(struct learned_rules *rules, uint64_t first, uint64_t last,
                       struct stack_rule found);

/* Whether code around `pc` was seen to have frame pointers, nearly without exception. Only for code
 * in no module. */
bool learned_has_frame_pointers(const struct learned_rules *rules, uint64_t pc);
void learned_note_frame_pointer(struct learned_rules *rules, uint64_t pc, bool agrees);

void learned_clear(struct learned_rules *rules);

#endif
