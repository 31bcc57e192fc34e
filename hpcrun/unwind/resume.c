#include "hpcrun/unwind/resume.h"

#include "lib/bytes.h"

#define CALL       0xe8
#define CALL_BYTES 5

/* Behind the call of the function that makes the copies there is one for debuggers to break at
 * (_Unwind_DebugHook), and no other. */
#define CALLS 2

static bool saves_arguments(const struct cfi_row *row)
{
    return row->reg[DWARF_RAX].kind == REG_AT_CFA && row->reg[DWARF_RDX].kind == REG_AT_CFA &&
           !row->cfa_expr;
}

bool resume_may_come(const struct cfi_row *row)
{
    return saves_arguments(row) && row->cfa_reg == DWARF_RBP &&
           row->reg[DWARF_RBP].kind == REG_AT_CFA;
}

/* The stack pointer is the other frame's, or about to be. Nothing is saved below it. */
bool resume_is_done(const struct cfi_row *row)
{
    if (!saves_arguments(row) || row->reg[DWARF_RBP].kind != REG_SAME || row->cfa_reg == DWARF_RBP)
        return false;
    return row->cfa_reg != DWARF_RSP || row->reg[DWARF_RAX].offset < -row->cfa_offset;
}

/* Bytes that look like a call within the module are taken for one: the rest of an instruction
 * seldom has so small a distance in it. */
static bool is_call(const uint8_t *code, uint64_t module_start, uint64_t module_end)
{
    uint64_t behind = (uint64_t)(uintptr_t)code + CALL_BYTES;
    uint64_t target = behind + (uint64_t)(int64_t)(int32_t)get_u32(code + 1);
    return *code == CALL && target - module_start < module_end - module_start;
}

uint64_t resume_begin(uint64_t start, uint64_t end, uint64_t module_start, uint64_t module_end)
{
    unsigned calls = 0;
    for (uint64_t at = end; at >= start + CALL_BYTES; at--)
        if (is_call((const uint8_t *)(uintptr_t)(at - CALL_BYTES), module_start, module_end) &&
            ++calls == CALLS)
            return at - 1;
    return start;
}
