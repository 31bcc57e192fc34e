#include "hpcrun/unwind/call-site.h"

#include <string.h>

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

bool call_site_is_before(struct memory *memory, uint64_t address)
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

struct call {
    uint8_t opcode;
    int32_t distance;
} __attribute__((packed));

bool call_site_target(struct memory *memory, uint64_t ra, uint64_t *target)
{
    struct call call;
    if (!memory_read_guarded(memory, ra - sizeof call, &call, sizeof call) || call.opcode != 0xe8)
        return false;
    *target = ra + (uint64_t)(int64_t)call.distance;
    return true;
}
