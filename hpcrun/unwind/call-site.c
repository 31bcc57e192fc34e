#include "hpcrun/unwind/call-site.h"

#include <string.h>

#define LONGEST_CALL 7
#define PAGE         4096u

/* Whether `length` bytes after the opcode ff are the rest of an indirect call (ff /2). */
static bool is_indirect_call(const uint8_t *modrm, unsigned length)
{
    unsigned mod = *modrm >> 6, rm = *modrm & 7;
    if (((*modrm >> 3) & 7) != 2)
        return false;
    unsigned sib = mod != 3 && rm == 4;
    unsigned displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
    return length == 1 + sib + displacement;
}

/* Reads the bytes before `address`. If the page before can't be read (code may begin with a call),
 * its bytes are 0, which is no opcode of a call. */
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

/* A call or jump through a word in memory, which is addressed relative to the end of the
 * instruction. */
struct indirect_code {
    uint8_t opcode[2];
    int32_t distance;
} __attribute__((packed));

enum { INDIRECT_CALL = 0x15, INDIRECT_JUMP = 0x25 };

/* The target of such a call or jump; false if the bytes before `end` are none. */
static bool indirect_target(struct memory *memory, uint64_t end, uint8_t which, uint64_t *target)
{
    struct indirect_code code;
    return memory_read_guarded(memory, end - sizeof code, &code, sizeof code) &&
           code.opcode[0] == 0xff && code.opcode[1] == which &&
           memory_load(memory, end + (uint64_t)(int64_t)code.distance, target);
}

/* Whether a PLT entry jumps to `function`. The jump may have an endbr64 before it, and a bnd
 * prefix. */
static bool plt_calls(struct memory *memory, uint64_t entry, uint64_t function)
{
    static const unsigned jump_at[] = {0, 1, 4, 5};
    uint64_t target;
    for (unsigned i = 0; i < sizeof jump_at / sizeof *jump_at; i++)
        if (indirect_target(memory, entry + jump_at[i] + sizeof(struct indirect_code),
                            INDIRECT_JUMP, &target))
            return target == function;
    return false;
}

bool call_site_calls(struct memory *memory, uint64_t ra, uint64_t function)
{
    uint64_t target;
    if (call_site_target(memory, ra, &target))
        return target == function || plt_calls(memory, target, function);
    return indirect_target(memory, ra, INDIRECT_CALL, &target) && target == function;
}
