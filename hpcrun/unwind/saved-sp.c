#include "hpcrun/unwind/saved-sp.h"

#include <string.h>

/* Bytes of code that are searched. */
#define REACH (1u << 15)

/* Stacks are aligned for vectors, or more. */
#define ALIGNMENT 32

/* A frame beside which the old stack pointer is kept, bytes at most. */
#define MAX_FRAME (1u << 16)

#define WINDOW 256
#define MOV    3 /* bytes of the instruction */

uint64_t saved_sp_value(const ucontext_t *leaf, unsigned number)
{
    const greg_t *registers = leaf->uc_mcontext.gregs;
    switch (number) {
    case 3: return (uint64_t)registers[REG_RBX];
    case 12: return (uint64_t)registers[REG_R12];
    case 13: return (uint64_t)registers[REG_R13];
    case 14: return (uint64_t)registers[REG_R14];
    default: return (uint64_t)registers[REG_R15];
    }
}

bool saved_sp_may_be_in(const ucontext_t *leaf, const struct frame *frame, unsigned number)
{
    uint64_t above = saved_sp_value(leaf, number) - frame->sp;
    return frame->sp % ALIGNMENT == 0 && above > 0 && above < MAX_FRAME && above % 8 == 0;
}

/* Index behind the instruction in the window; 0: it is not there. */
static unsigned find_mov(const uint8_t window[WINDOW], unsigned number)
{
    const uint8_t mov[MOV] = {number < 8 ? 0x48 : 0x4c, 0x89, (uint8_t)(0xc4 | (number & 7) << 3)};
    for (unsigned i = 0; i + MOV <= WINDOW; i++)
        if (memcmp(window + i, mov, MOV) == 0)
            return i + MOV;
    return 0;
}

bool saved_sp_frame(const ucontext_t *leaf, struct memory *memory, const struct frame *frame,
                    unsigned number, struct frame *later)
{
    uint8_t window[WINDOW];
    for (uint64_t at = frame->pc; at < frame->pc + REACH; at += WINDOW - MOV + 1) {
        if (!memory_read_guarded(memory, at, window, WINDOW))
            return false;
        unsigned behind = find_mov(window, number);
        if (!behind)
            continue;
        *later = (struct frame){
            .pc = at + behind, .sp = saved_sp_value(leaf, number), .bp = frame->bp};
        return true;
    }
    return false;
}
