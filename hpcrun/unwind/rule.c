#include "hpcrun/unwind/rule.h"

#include "lib/bytes.h"

#include <string.h>

/* ---- code that resumes another frame ---- */

#define CALL       0xe8
#define CALL_BYTES 5

/* The last two calls are that of the function that overwrites the registers, and one where
 * debuggers set breakpoints (_Unwind_DebugHook). */
#define CALLS 2

static bool saves_arguments(const struct cfi_row *row)
{
    return row->reg[DWARF_RAX].kind == REG_AT_CFA && row->reg[DWARF_RDX].kind == REG_AT_CFA &&
           !row->cfa_expr;
}

bool eh_return_may_follow(const struct cfi_row *row)
{
    return saves_arguments(row) && row->cfa_reg == DWARF_RBP &&
           row->reg[DWARF_RBP].kind == REG_AT_CFA;
}

/* The CFA is no longer computed from rbp, and rbp is the other frame's. */
bool eh_return_is_done(const struct cfi_row *row)
{
    if (!saves_arguments(row) || row->reg[DWARF_RBP].kind != REG_SAME || row->cfa_reg == DWARF_RBP)
        return false;
    return row->cfa_reg != DWARF_RSP || row->reg[DWARF_RAX].offset < -row->cfa_offset;
}

/* Whether the bytes look like a call within the module. Parts of other instructions rarely do:
 * their distance would have to be as small. */
static bool is_call(const uint8_t *code, uint64_t module_start, uint64_t module_end)
{
    uint64_t behind = (uint64_t)(uintptr_t)code + CALL_BYTES;
    uint64_t target = behind + (uint64_t)(int64_t)(int32_t)get_u32(code + 1);
    return *code == CALL && target - module_start < module_end - module_start;
}

uint64_t eh_return_begin(uint64_t start, uint64_t end, uint64_t module_start, uint64_t module_end)
{
    unsigned calls = 0;
    for (uint64_t at = end; at >= start + CALL_BYTES; at--)
        if (is_call((const uint8_t *)(uintptr_t)(at - CALL_BYTES), module_start, module_end) &&
            ++calls == CALLS)
            return at - 1;
    return start;
}

/* ---- rules ---- */

#define OP_BREG_RBP 0x76
#define OP_BREG_RSP 0x77
#define OP_DEREF    0x06

/* The expression by which linkers describe lazy PLT entries, which push one word before their last
 * instruction: rsp + 8 + ((rip & 15) >= B) * 8. Byte 7 of the operations is B: DW_OP_lit10 or
 * lit11. */
static bool is_plt_expression(const uint8_t *expr, uint64_t pc, int32_t *offset)
{
    static const uint8_t head[] = {11, OP_BREG_RSP, 8, 0x80, 0, 0x3f, 0x1a};
    static const uint8_t tail[] = {0x2a, 0x33, 0x24, 0x22};
    if (memcmp(expr, head, sizeof head) != 0 || memcmp(expr + 8, tail, sizeof tail) != 0)
        return false;
    uint8_t bound = (uint8_t)(expr[7] - 0x30);
    if (bound > 15)
        return false;
    *offset = (pc & 15) >= bound ? 16 : 8;
    return true;
}

/* DW_OP_breg with a one-byte offset, optionally followed by DW_OP_deref. */
static bool is_register_expression(const uint8_t *expr, uint8_t reg_op, bool deref, int32_t *offset)
{
    unsigned size = deref ? 3 : 2;
    if (expr[0] != size || expr[1] != reg_op || (expr[2] & 0x80) || (deref && expr[3] != OP_DEREF))
        return false;
    *offset = (int8_t)(expr[2] << 1) >> 1;
    return true;
}

static bool set_cfa(struct rule *rule, const struct cfi_row *row, uint64_t pc)
{
    int32_t offset = (int32_t)row->cfa_offset;
    if (row->cfa_expr) {
        if (is_plt_expression(row->cfa_expr, pc, &offset))
            rule->kind = RULE_CFA_SP;
        else if (is_register_expression(row->cfa_expr, OP_BREG_RBP, true, &offset))
            rule->kind = RULE_CFA_AT_BP;
        else
            return false;
    } else if (row->cfa_reg == DWARF_RSP && row->cfa_offset == offset) {
        rule->kind = RULE_CFA_SP;
    } else if (row->cfa_reg == DWARF_RBP && row->cfa_offset == offset) {
        rule->kind = RULE_CFA_BP;
    } else {
        return false;
    }
    rule->cfa_offset = offset;
    return true;
}

static bool set_bp(struct rule *rule, const struct reg_rule *bp)
{
    int32_t offset = 0;
    switch (bp->kind) {
    case REG_SAME:
    case REG_UNDEFINED: rule->bp = BP_SAME; return true;
    case REG_AT_CFA:
        rule->bp = BP_AT_CFA;
        rule->bp_offset = (int32_t)bp->offset;
        return rule->bp_offset == bp->offset;
    case REG_AT_EXPR:
        rule->bp = BP_AT_BP;
        if (!is_register_expression(bp->expr, OP_BREG_RBP, false, &offset))
            return false;
        rule->bp_offset = offset;
        return true;
    default: return false;
    }
}

struct rule rule_from_row(const struct cfi_row *row, uint64_t pc)
{
    struct rule rule = {0};
    const struct reg_rule *ra = &row->reg[DWARF_RIP];
    if (row->signal_frame)
        return (struct rule){.kind = RULE_SIGNAL};
    if (ra->kind == REG_UNDEFINED)
        return (struct rule){.kind = RULE_OUTERMOST};
    if (eh_return_is_done(row))
        return (struct rule){.kind = RULE_EH_RETURNED};
    bool simple = ra->kind == REG_AT_CFA && ra->offset == -8 &&
                  row->reg[DWARF_RSP].kind == REG_SAME && set_cfa(&rule, row, pc) &&
                  set_bp(&rule, &row->reg[DWARF_RBP]);
    if (rule.kind == RULE_CFA_SP && rule.bp == BP_AT_BP)
        rule.bp =
            BP_SAME; /* the end of a function that has realigned its stack: gcc leaves rbp out */
    return simple ? rule : (struct rule){.kind = RULE_FULL};
}
