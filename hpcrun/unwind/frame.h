/* Signal handler: everything here runs in the sampling handler.
 *
 * Frames, and the step from one to its caller by a rule that needs sp and rbp only. */
#ifndef HPCRUN_UNWIND_FRAME_H
#define HPCRUN_UNWIND_FRAME_H

#include "hpcrun/unwind/memory.h"
#include "hpcrun/unwind/rule-cache.h"

/* Special values of frame.link, which tells how to check the caller again. */
enum { LINK_BP_SAME = 0, LINK_IRREGULAR = INT32_MIN };

struct frame {
    uint64_t pc; /* where interrupted or resumed: exact; callers: return address - 1 */
    uint64_t sp, bp;
    uint32_t node; /* tree node, set by the user of the path; frames that are reused keep it */
    int32_t link;  /* caller's rbp is at caller's sp + link; or a LINK constant */
};

/* The result of a step. STEP_ASTRAY: there is no return address where the rule says. */
enum step { STEP_OK, STEP_OUTERMOST, STEP_ASTRAY, STEP_FAILED };

static inline bool frame_rule_is_regular(struct rule rule)
{
    bool by_sp_and_bp = rule.kind == RULE_CFA_SP || rule.kind == RULE_CFA_BP ||
                        rule.kind == RULE_CFA_AT_BP || rule.kind == RULE_CFA_AT_SP;
    return by_sp_and_bp && !rule.begins;
}

static inline bool frame_cfa_in_memory(struct memory *memory, struct rule rule,
                                       const struct frame *frame, uint64_t *cfa)
{
    if (rule.kind == RULE_CFA_AT_BP)
        return memory_load(memory, frame->bp + (uint64_t)rule.cfa_offset, cfa);
    bool found = memory_load(memory, frame->sp + (uint64_t)rule_slot(rule), cfa);
    *cfa += (uint64_t)rule_added(rule);
    return found;
}

/* From a frame to its caller by a regular rule. Sets frame->link. Fails if the stack is not
 * readable. In a guarded region. */
static inline enum step frame_step(struct memory *memory, struct rule rule, struct frame *frame,
                                   struct frame *caller)
{
    uint64_t cfa, ra;
    if (rule.kind == RULE_CFA_SP)
        cfa = frame->sp + (uint64_t)rule.cfa_offset;
    else if (rule.kind == RULE_CFA_BP)
        cfa = frame->bp + (uint64_t)rule.cfa_offset;
    else if (!frame_cfa_in_memory(memory, rule, frame, &cfa))
        return STEP_FAILED;
    caller->bp = frame->bp;
    frame->link = LINK_BP_SAME;
    if (rule.bp == BP_AT_CFA) {
        frame->link = rule.bp_offset;
        if (!memory_load(memory, cfa + (uint64_t)rule.bp_offset, &caller->bp))
            return STEP_FAILED;
    } else if (rule.bp == BP_AT_BP &&
               !memory_load(memory, frame->bp + (uint64_t)rule.bp_offset, &caller->bp)) {
        return STEP_FAILED;
    }
    if (rule.kind == RULE_CFA_AT_BP || rule.kind == RULE_CFA_AT_SP || rule.bp == BP_AT_BP)
        frame->link = LINK_IRREGULAR;
    if (!memory_load(memory, cfa - 8, &ra))
        return STEP_FAILED;
    if (ra == 0)
        return STEP_ASTRAY;
    caller->pc = ra - 1;
    caller->sp = cfa;
    return STEP_OK;
}

/* From a frame of any stack that is not running to its caller. False at the outermost frame, or if
 * the rule needs more than sp and rbp. Sets frame->link. In a guarded region. */
static inline bool frame_caller(struct memory *memory, struct rule_cache *cache,
                                struct frame *frame, struct frame *caller)
{
    struct rule rule = rule_cache_get(cache, frame->pc);
    return frame_rule_is_regular(rule) && frame_step(memory, rule, frame, caller) == STEP_OK;
}

#endif
