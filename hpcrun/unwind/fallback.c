#include "hpcrun/unwind/fallback.h"

#define TOP_WORDS    3
#define SCAN_WORDS   64
#define MAX_FRAME    (1u << 20)
#define LONGEST_CALL 7

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

bool fallback_is_return_address(struct memory *memory, uint64_t address)
{
    uint8_t code[LONGEST_CALL];
    if (!memory_read_guarded(memory, address - LONGEST_CALL, code, sizeof code))
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

static bool return_address_at(struct memory *memory, uint64_t place, uint64_t *value)
{
    return memory_load(memory, place, value) && fallback_is_return_address(memory, *value);
}

static bool from_stack_words(struct memory *memory, const struct frame *frame, unsigned words,
                             struct frame *caller)
{
    uint64_t ra;
    for (unsigned i = 0; i < words; i++) {
        if (!return_address_at(memory, frame->sp + 8 * i, &ra))
            continue;
        *caller = (struct frame){.pc = ra - 1, .sp = frame->sp + 8 * i + 8, .bp = frame->bp};
        return true;
    }
    return false;
}

static bool from_frame_pointer(struct memory *memory, const struct frame *frame,
                               struct frame *caller)
{
    uint64_t ra, bp;
    if (frame->bp - frame->sp >= MAX_FRAME || (frame->bp & 7) ||
        !memory_load(memory, frame->bp, &bp) || !return_address_at(memory, frame->bp + 8, &ra))
        return false;
    *caller = (struct frame){.pc = ra - 1, .sp = frame->bp + 16, .bp = bp};
    return true;
}

bool fallback_step(struct memory *memory, const struct frame *frame, bool interrupted,
                   struct frame *caller)
{
    if (interrupted && from_stack_words(memory, frame, TOP_WORDS, caller))
        return true;
    return from_frame_pointer(memory, frame, caller) ||
           from_stack_words(memory, frame, SCAN_WORDS, caller);
}
