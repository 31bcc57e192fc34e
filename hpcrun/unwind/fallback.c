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

/* Whether the call before `ra` may have called the code at `pc`. A direct call within a module
 * can't have called code made at run time; this excludes most return addresses that earlier calls
 * have left. */
static bool may_call(struct memory *memory, uint64_t ra, uint64_t pc)
{
    uint64_t target;
    return !call_site_target(memory, ra, &target) || in_module(pc) || !in_module(target);
}

/* Whether an address lies in the frame's stack. Code on a stack, such as trampolines, jumps and
 * does not call, so there are no return addresses to it. */
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
    /* If rbp points to the word before, that is the caller's rbp. */
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

/* Whether the caller directly calls an address a little before `pc`, in the same module, that has
 * no unwind information either: then it has called this code. */
static bool surely_calls(struct memory *memory, struct rule_cache *cache,
                         const struct frame *caller, uint64_t pc, const struct module_range *module)
{
    uint64_t target;
    return call_site_target(memory, caller->pc + 1, &target) && pc - target < NEAR &&
           target >= module->start && rule_cache_get(cache, target).kind == RULE_NO_FDE;
}

/* Whether unwinding from a frame by unwind information passes over `place`, or ends before. */
static bool passes_over(struct memory *memory, struct rule_cache *cache, struct frame frame,
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

/* Earlier calls may have left return addresses, even whole chains, in an unused part of the frame.
 * But if a call has called this code for sure, no true path passes over the return address that it
 * pushed. */
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
            if (passes_over(memory, cache, *caller, place))
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
