#include "hpcrun/unwind/irregular-step.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/expression.h"
#include "hpcrun/unwind/rule.h"

#include <string.h>

/* Index in the machine context, by DWARF register number. */
static const uint8_t greg_of[DWARF_REGS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

/* A frame's registers; `exact`: its pc is where it was interrupted or will continue, not a return
 * address. */
struct registers {
    uint64_t reg[DWARF_REGS];
    bool exact;
};

static void from_context(const greg_t *gregs, struct registers *r)
{
    for (unsigned i = 0; i < DWARF_REGS; i++)
        r->reg[i] = (uint64_t)gregs[greg_of[i]];
    r->exact = true;
}

static bool restore(const struct reg_rule *rule, unsigned number, uint64_t cfa,
                    const struct registers *r, struct memory *memory, uint64_t *value)
{
    uint64_t address;
    switch (rule->kind) {
    case REG_SAME:
    case REG_UNDEFINED: *value = number == DWARF_RSP ? cfa : r->reg[number]; return true;
    case REG_AT_CFA: return memory_load(memory, cfa + (uint64_t)rule->offset, value);
    case REG_CFA_PLUS: *value = cfa + (uint64_t)rule->offset; return true;
    case REG_IN_REG:
        if ((uint64_t)rule->offset >= DWARF_REGS)
            return false;
        *value = r->reg[rule->offset];
        return true;
    case REG_AT_EXPR:
        return expression_evaluate(rule->expr, r->reg, &cfa, memory, &address) &&
               memory_load(memory, address, value);
    case REG_IS_EXPR: return expression_evaluate(rule->expr, r->reg, &cfa, memory, value);
    }
    return false;
}

static bool step_signal_frame(struct registers *r, struct memory *memory)
{
    greg_t gregs[NGREG];
    uint64_t place = r->reg[DWARF_RSP] + offsetof(ucontext_t, uc_mcontext.gregs);
    if (!memory_read_guarded(memory, place, gregs, sizeof gregs))
        return false;
    from_context(gregs, r);
    return true;
}

static bool step(struct registers *r, struct memory *memory, struct cfi_scratch *scratch)
{
    uint64_t pc = r->reg[DWARF_RIP] - !r->exact;
    struct module_range range;
    if (!module_range_find(pc, &range) || !range.eh_frame_hdr ||
        !cfi_open(&scratch->index, range.eh_frame_hdr))
        return false;
    const struct cfi_row *row = cfi_row_at(pc, &scratch->index, scratch);
    if (!row)
        return false;
    if (row->signal_frame)
        return step_signal_frame(r, memory);
    uint64_t cfa = r->reg[row->cfa_reg] + (uint64_t)row->cfa_offset;
    if (row->cfa_expr && !expression_evaluate(row->cfa_expr, r->reg, NULL, memory, &cfa))
        return false;
    struct registers caller = {.exact = eh_return_is_done(row)};
    for (unsigned i = 0; i < DWARF_REGS; i++)
        if (!restore(&row->reg[i], i, cfa, r, memory, &caller.reg[i]))
            return false;
    *r = caller;
    return true;
}

bool full_step_from(const ucontext_t *context, struct memory *memory, struct cfi_scratch *scratch,
                    uint64_t pc, uint64_t sp, unsigned max_frames, uint64_t *caller_ra,
                    uint64_t *caller_sp, uint64_t *caller_bp)
{
    struct registers r;
    from_context(context->uc_mcontext.gregs, &r);
    for (unsigned i = 0; i < max_frames; i++) {
        bool found = r.reg[DWARF_RIP] - !r.exact == pc && r.reg[DWARF_RSP] == sp;
        if (!step(&r, memory, scratch))
            return false;
        if (found) {
            *caller_ra = r.reg[DWARF_RIP];
            *caller_sp = r.reg[DWARF_RSP];
            *caller_bp = r.reg[DWARF_RBP];
            return true;
        }
    }
    return false;
}
