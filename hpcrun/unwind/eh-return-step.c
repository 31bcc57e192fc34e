#include "hpcrun/unwind/irregular-step.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/call-site.h"

#define MAX_STEPS 64
#define MAX_FRAME 4096u

/* Whether a word between two stack pointers is the return address of a call of `function`. */
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

/* Whether `caller` has called the function of `frame`, and no other frame of it lies between them:
 * another frame's rbp leads from one to the other's caller. */
static bool is_called(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                      const struct frame *caller)
{
    uint64_t function = rule_cache_function(cache, frame->pc), place = caller->sp - 8;
    return function && place - frame->sp < MAX_FRAME &&
           call_site_calls(memory, caller->pc + 1, function) &&
           !has_call_of(memory, function, frame->sp, place);
}

/* Whether the frame's rbp is its own, or nobody's path depends on it. */
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

/* The stack pointer of the frame that is gone on in, if `ra`, which was copied, is its. It stands
 * in libgcc's description of that frame (struct _Unwind_Context), a variable of the function:
 * behind the places where its registers were saved, of which the last but one is that of its return
 * address. The address where it goes on follows, and may have been stored in that place already. */
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

/* The return address is copied at last: where it is the caller's, the stack pointer is, too; where
 * it is the other frame's, rbp is. */
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
