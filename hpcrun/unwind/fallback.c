#include "hpcrun/unwind/irregular-step.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/call-site.h"

#define TOP_WORDS  3
#define SCAN_WORDS 64
#define MAX_FRAME  (1u << 20)
#define NEAR       (1u << 16)

static bool in_module(uint64_t address)
{
    struct module_range range;
    return module_range_find(address, &range);
}

/* Whether the call before `ra` may have led to `pc`: one that names a place in a module leads to no
 * code made at run time. So most of what earlier calls left on the stack is told from the truth. */
static bool may_call(struct memory *memory, uint64_t ra, uint64_t pc)
{
    uint64_t target;
    return !call_site_target(memory, ra, &target) || in_module(pc) || !in_module(target);
}

/* Whether an address lies in the stack of the frame. Nothing is called from there: where there is
 * code on a stack, as in trampolines, it jumps. */
static bool on_stack(const struct memory *memory, const struct frame *frame, uint64_t address)
{
    return address - frame->sp < MAX_FRAME ||
           address - memory->own_low < memory->own_high - memory->own_low;
}

static bool return_address_at(struct memory *memory, const struct frame *frame, uint64_t place,
                              uint64_t *value)
{
    return memory_load(memory, place, value) && !on_stack(memory, frame, *value) &&
           call_site_is_before(memory, *value) && may_call(memory, *value, frame->pc);
}

/* The caller if its return address is at `place`. */
static bool caller_at(struct memory *memory, const struct frame *frame, uint64_t place,
                      struct frame *caller)
{
    uint64_t ra, bp = frame->bp;
    if (!return_address_at(memory, frame, place, &ra))
        return false;
    /* The frame has one that rbp points to: then the caller's rbp lies there. */
    if (frame->bp == place - 8 && !memory_load(memory, place - 8, &bp))
        return false;
    *caller = (struct frame){.pc = ra - 1, .sp = place + 8, .bp = bp};
    return true;
}

static bool from_stack_words(struct memory *memory, const struct frame *frame, unsigned words,
                             struct frame *caller)
{
    for (unsigned i = 0; i < words; i++)
        if (caller_at(memory, frame, frame->sp + 8 * i, caller))
            return true;
    return false;
}

static bool from_frame_pointer(struct memory *memory, const struct frame *frame,
                               struct frame *caller)
{
    uint64_t ra, bp;
    if (frame->bp - frame->sp >= MAX_FRAME || (frame->bp & 7) ||
        !memory_load(memory, frame->bp, &bp) ||
        !return_address_at(memory, frame, frame->bp + 8, &ra))
        return false;
    *caller = (struct frame){.pc = ra - 1, .sp = frame->bp + 16, .bp = bp};
    return true;
}

static bool first_guess(struct memory *memory, const struct frame *frame, bool interrupted,
                        struct frame *caller)
{
    if (interrupted && from_stack_words(memory, frame, TOP_WORDS, caller))
        return true;
    return from_frame_pointer(memory, frame, caller) ||
           from_stack_words(memory, frame, SCAN_WORDS, caller);
}

/* Whether the caller's call names a place a little before `pc`, in the same module, that has no
 * unwind information either: it leads there. */
static bool surely_calls(struct memory *memory, struct rule_cache *cache,
                         const struct frame *caller, uint64_t pc, const struct module_range *module)
{
    uint64_t target;
    return call_site_target(memory, caller->pc + 1, &target) && pc - target < NEAR &&
           target >= module->start && rule_cache_get(cache, target).kind == RULE_NO_FDE;
}

/* Whether unwind information leads from a frame to one outside of `place`, or comes to no caller
 * before. */
static bool leads_over(struct memory *memory, struct rule_cache *cache, struct frame frame,
                       uint64_t place)
{
    struct frame caller = {0};
    for (unsigned i = 0; i < SCAN_WORDS; i++, frame = caller) {
        if (!frame_rule_is_regular(rule_cache_get(cache, frame.pc)))
            return false;
        if (!frame_caller(memory, cache, &frame, &caller) || caller.sp > place ||
            !call_site_is_before(memory, caller.pc + 1))
            return true;
    }
    return false;
}

/* Earlier calls leave return addresses, and whole chains of them, in a frame that is not filled.
 * But where a call surely leads to this code, nothing that has unwind information can lie across
 * the return address that it pushed. */
static void correct(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                    struct frame *caller)
{
    struct frame sure;
    struct module_range module;
    if (!module_range_find(frame->pc, &module) ||
        surely_calls(memory, cache, caller, frame->pc, &module))
        return;
    for (unsigned i = 0; i < SCAN_WORDS; i++) {
        uint64_t place = frame->sp + 8 * i;
        if (place >= caller->sp && caller_at(memory, frame, place, &sure) &&
            surely_calls(memory, cache, &sure, frame->pc, &module)) {
            if (leads_over(memory, cache, *caller, place))
                *caller = sure;
            return;
        }
    }
}

bool fallback_step(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                   bool interrupted, struct frame *caller)
{
    if (!first_guess(memory, frame, interrupted, caller))
        return false;
    correct(memory, cache, frame, caller);
    return true;
}
