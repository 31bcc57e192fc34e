#include "hpcrun/unwind/irregular-step.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/call-site.h"

#define MAX_STEPS 64
#define MAX_FRAME 4096u

/* Whether a word between two stack pointers is a return address behind a call of `function`. */
static bool has_call_of(struct memory *memory, uint64_t function, uint64_t from, uint64_t to)
{
    struct module_range module;
    uint64_t word;
    for (; from < to; from += 8)
        if (memory_load(memory, from, &word) && module_range_find(word, &module) &&
            call_site_calls(memory, word, function))
            return true;
    return false;
}

/* Whether `caller` has called the function of `frame`, with no other frame of that function between
 * them. (A wrong rbp would lead past such a frame, to its caller.) */
static bool is_called(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                      const struct frame *caller)
{
    uint64_t function = rule_cache_function(cache, frame->pc), place = caller->sp - 8;
    return function && place - frame->sp < MAX_FRAME &&
           call_site_calls(memory, caller->pc + 1, function) &&
           !has_call_of(memory, function, frame->sp, place);
}

/* Whether the frame's rbp is its own, or the path does not depend on it. */
static bool bp_holds(struct memory *memory, struct rule_cache *cache, struct frame frame)
{
    struct frame caller = {0};
    for (unsigned i = 0; i < MAX_STEPS; i++, frame = caller) {
        struct rule rule = rule_cache_get(cache, frame.pc);
        if (rule.kind == RULE_OUTERMOST || rule.kind == RULE_SIGNAL)
            return true;
        if (!frame_rule_is_regular(rule) || rule.bp == BP_AT_BP ||
            frame_step(memory, rule, &frame, &caller) != STEP_OK)
            return false;
        if (rule.kind != RULE_CFA_SP)
            return is_called(memory, cache, &frame, &caller);
        if (rule.bp == BP_AT_CFA)
            return true;
    }
    return false;
}

/* Finds the stack pointer of the resumed frame, if `ra`, which may be copied already, is its return
 * address. It is in libgcc's description of that frame (struct _Unwind_Context), a local variable
 * of `frame`: after pointers to its saved registers, of which the last but one points to its return
 * address. The landing pad's address follows, and may have been stored there already. */
static bool find_other_sp(struct memory *memory, uint64_t ra, const struct frame *frame,
                          uint64_t cfa, uint64_t *sp)
{
    uint64_t place, landing, there;
    for (uint64_t at = frame->sp; at + 32 <= cfa && at - frame->sp < MAX_FRAME; at += 8)
        if (memory_load(memory, at, &place) && memory_load(memory, at + 16, sp) &&
            place == *sp - 8 && *sp > cfa && memory_load(memory, at + 24, &landing) &&
            memory_load(memory, place, &there) && (there == ra || there == landing))
            return true;
    return false;
}

/* The return address is copied last. If it is still the caller's, so is the stack pointer; if it is
 * the other frame's, so is rbp. */
bool eh_return_step(struct memory *memory, struct rule_cache *cache, struct rule rule,
                    struct frame *frame, struct frame *caller)
{
    uint64_t function = rule_cache_function(cache, frame->pc);
    rule.kind = RULE_CFA_BP;
    bool stepped = frame_step(memory, rule, frame, caller) == STEP_OK;
    frame->link = LINK_IRREGULAR;
    if (!stepped || !function)
        return false;
    if (call_site_calls(memory, caller->pc + 1, function))
        return bp_holds(memory, cache, *caller);
    return find_other_sp(memory, caller->pc + 1, frame, caller->sp, &caller->sp);
}
