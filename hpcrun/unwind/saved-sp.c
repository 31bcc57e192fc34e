#include "hpcrun/unwind/saved-sp.h"

/* Bytes of code that are searched. */
#define REACH (1u << 15)

/* Stacks are aligned for vectors, or more. */
#define ALIGNMENT 32

/* A frame beside which the old stack pointer is kept, bytes at most. */
#define MAX_FRAME (1u << 16)

#define WINDOW 256
#define MOV    3 /* bytes of the instruction */

bool saved_sp_is_in(const ucontext_t *registers, const struct frame *frame, unsigned number,
                    uint64_t *saved_sp)
{
    static const uint8_t greg_of[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    if (!registers)
        return false;
    *saved_sp = (uint64_t)registers->uc_mcontext.gregs[greg_of[number]];
    uint64_t above = *saved_sp - frame->sp;
    return frame->sp % ALIGNMENT == 0 && above > 0 && above < MAX_FRAME && above % 8 == 0;
}

/* The registers that are searched for, a bit each. */
static uint32_t candidates(const struct saved_sp_search *search)
{
    static const uint8_t saved[] = {3, 12, 13, 14, 15};
    uint32_t found = 0;
    uint64_t sp;
    for (unsigned i = 0; i < sizeof saved; i++)
        if (saved_sp_is_in(search->registers, search->frame, saved[i], &sp))
            found |= 1u << saved[i];
    return found & ~search->refused;
}

/* Index behind the first such instruction in the window, and its register; 0: there is none. */
static unsigned find_mov(const uint8_t window[WINDOW], uint32_t registers, unsigned *number)
{
    for (unsigned i = 0; i + MOV <= WINDOW; i++) {
        bool extended = window[i] == 0x4c; /* r8 to r15 */
        if (window[i + 1] != 0x89 || (window[i] != 0x48 && !extended) ||
            (window[i + 2] & 0xc7) != 0xc4)
            continue;
        *number = (window[i + 2] >> 3 & 7) + 8 * extended;
        if (registers >> *number & 1)
            return i + MOV;
    }
    return 0;
}

bool saved_sp_find(struct saved_sp_search *search, struct memory *memory, unsigned *number,
                   struct frame *later)
{
    uint8_t window[WINDOW];
    uint32_t registers = candidates(search);
    while (registers && search->offset < REACH) {
        uint64_t at = search->frame->pc + search->offset;
        if (!memory_read_searched(memory, at, window, WINDOW))
            return false;
        unsigned behind = find_mov(window, registers, number);
        search->offset += behind ? behind : WINDOW - MOV + 1;
        if (!behind)
            continue;
        search->refused |= 1u << *number;
        *later = (struct frame){.pc = at + behind, .bp = search->frame->bp};
        return saved_sp_is_in(search->registers, search->frame, *number, &later->sp);
    }
    return false;
}
