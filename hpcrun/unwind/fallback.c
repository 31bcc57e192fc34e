#include "hpcrun/unwind/fallback.h"

#include "hpcrun/code/code-map.h"

#include <string.h>

#define TOP_WORDS    3
#define SCAN_WORDS   64
#define MAX_FRAME    (1u << 20)
#define NEAR         (1u << 16)
#define LONGEST_CALL 7
#define PAGE         4096u

/* Forms of `ff /2`, the indirect call, by the length of what follows the opcode. */
static bool is_indirect_call(const uint8_t *modrm, unsigned length)
{
    unsigned mod = *modrm >> 6, rm = *modrm & 7;
    if (((*modrm >> 3) & 7) != 2)
        return false;
    unsigned sib = mod != 3 && rm == 4;
    unsigned displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
    return length == 1 + sib + displacement;
}

/* The bytes before `address`; zeros, which no call has for its opcode, for those of a page before
 * it that can't be read: code may begin with a call. */
static bool read_code_before(struct memory *memory, uint64_t address, uint8_t code[LONGEST_CALL])
{
    if (memory_read_guarded(memory, address - LONGEST_CALL, code, LONGEST_CALL))
        return true;
    uint64_t in_page = address % PAGE;
    memset(code, 0, LONGEST_CALL);
    return in_page < LONGEST_CALL &&
           memory_read_guarded(memory, address - in_page, code + LONGEST_CALL - in_page, in_page);
}

bool fallback_is_return_address(struct memory *memory, uint64_t address)
{
    uint8_t code[LONGEST_CALL];
    if (!read_code_before(memory, address, code))
        return false;
    if (code[LONGEST_CALL - 5] == 0xe8)
        return true;
    for (unsigned length = 1; length < LONGEST_CALL; length++) {
        const uint8_t *opcode = code + LONGEST_CALL - 1 - length;
        if (*opcode == 0xff && is_indirect_call(opcode + 1, length))
            return true;
    }
    return false;
}

static bool in_module(uint64_t address)
{
    struct code_range range;
    return code_map_find(address, &range);
}

struct call {
    uint8_t opcode;
    int32_t distance;
} __attribute__((packed));

/* The call before `ra`, if it is one that names a place. */
static bool read_direct_call(struct memory *memory, uint64_t ra, struct call *call)
{
    return memory_read_guarded(memory, ra - sizeof *call, call, sizeof *call) &&
           call->opcode == 0xe8;
}

/* Whether the call before `ra` may have led to `pc`: one that names a place in a module leads to no
 * code made at run time. So most of what earlier calls left on the stack is told from the truth. */
static bool may_lead_to(struct memory *memory, uint64_t ra, uint64_t pc)
{
    struct call call;
    if (!read_direct_call(memory, ra, &call))
        return true;
    return in_module(pc) || !in_module(ra + (uint64_t)(int64_t)call.distance);
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
           fallback_is_return_address(memory, *value) && may_lead_to(memory, *value, frame->pc);
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
static bool surely_leads_to(struct unwinder *u, const struct frame *caller, uint64_t pc,
                            const struct code_range *module)
{
    struct call call;
    uint64_t ra = caller->pc + 1, target;
    if (!read_direct_call(&u->memory, ra, &call))
        return false;
    target = ra + (uint64_t)(int64_t)call.distance;
    return pc - target < NEAR && target >= module->start &&
           rule_cache_get(u->cache, target).kind == RULE_NO_FDE;
}

/* Whether unwind information leads from a frame to one outside of `place`, or comes to no caller
 * before. */
static bool leads_over(struct unwinder *u, struct frame frame, uint64_t place)
{
    struct frame caller = {0};
    for (unsigned i = 0; i < SCAN_WORDS; i++, frame = caller) {
        enum rule_kind kind = rule_cache_get(u->cache, frame.pc).kind;
        if (kind != RULE_CFA_SP && kind != RULE_CFA_BP && kind != RULE_CFA_AT_BP)
            return false;
        if (!unwind_caller(u, &frame, &caller) || caller.sp > place ||
            !fallback_is_return_address(&u->memory, caller.pc + 1))
            return true;
    }
    return false;
}

/* Earlier calls leave return addresses, and whole chains of them, in a frame that is not filled.
 * But where a call surely leads to this code, nothing that has unwind information can lie across
 * the return address that it pushed. */
static void correct(struct unwinder *u, const struct frame *frame, struct frame *caller)
{
    struct frame sure;
    struct code_range module;
    if (!code_map_find(frame->pc, &module) || surely_leads_to(u, caller, frame->pc, &module))
        return;
    for (unsigned i = 0; i < SCAN_WORDS; i++) {
        uint64_t place = frame->sp + 8 * i;
        if (place >= caller->sp && caller_at(&u->memory, frame, place, &sure) &&
            surely_leads_to(u, &sure, frame->pc, &module)) {
            if (leads_over(u, *caller, place))
                *caller = sure;
            return;
        }
    }
}

bool fallback_step(struct unwinder *u, const struct frame *frame, bool interrupted,
                   struct frame *caller)
{
    if (!first_guess(&u->memory, frame, interrupted, caller))
        return false;
    correct(u, frame, caller);
    return true;
}
