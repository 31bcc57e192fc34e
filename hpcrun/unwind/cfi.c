#include "hpcrun/unwind/cfi.h"

/* The only supported table format, which all linkers write, has pairs of an address and its FDE,
 * both as 32 bits relative to the header. */
bool cfi_open(struct cfi_index *index, const uint8_t *hdr)
{
    memset(index, 0, sizeof *index);
    if (hdr[0] != 1 || hdr[3] != (PE_DATAREL | PE_SDATA4))
        return false;
    struct cfi_cursor c = {.at = hdr + 4, .end = hdr + 4 + 16};
    cfi_value(&c, hdr[1]); /* address of .eh_frame */
    uint64_t count = cfi_pointer(&c, hdr[2]);
    if (c.bad || count == 0 || count > INT32_MAX)
        return false;
    index->hdr = hdr;
    index->entries = c.at;
    index->count = (uint32_t)count;
    index->first = (int32_t)get_u32(c.at);
    index->last = (int32_t)get_u32(c.at + 8 * (count - 1));
    return true;
}

static int32_t table_key(const struct cfi_index *index, uint32_t i)
{
    return (int32_t)get_u32(index->entries + 8 * (uint64_t)i);
}

/* The number of the part of [first, last] that a key lies in. */
static uint32_t part_of(const struct cfi_index *index, int64_t key)
{
    uint64_t span = (uint64_t)((int64_t)index->last - index->first) + 1;
    return 1 + (uint32_t)((uint64_t)(key - index->first) * CFI_PARTS / span);
}

/* Steps of interpolation search before bisection begins. */
#define INTERPOLATIONS 4

/* The last entry that begins at or before `key`, which is in [first, last). Every probe is likely
 * to miss the processor's caches. So the hints of earlier searches narrow the interval, and
 * interpolation comes first: functions are of similar length. */
static uint32_t search(const struct cfi_index *index, int64_t key)
{
    uint32_t part = part_of(index, key);
    uint32_t low = index->before[part], high = index->after[part];
    int64_t low_key = low ? table_key(index, low) : index->first;
    int64_t high_key = high ? table_key(index, high) : index->last;
    if (high == 0)
        high = index->count - 1;
    /* Invariant: key(low) <= key < key(high). */
    for (unsigned steps = 0; high - low > 1; steps++) {
        uint32_t middle = low + (high - low) / 2;
        if (steps < INTERPOLATIONS && high_key > low_key) {
            middle = low + (uint32_t)((uint64_t)(key - low_key) * (high - low) /
                                      (uint64_t)(high_key - low_key));
            middle = middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
        }
        int64_t middle_key = table_key(index, middle);
        if (middle_key <= key) {
            low = middle;
            low_key = middle_key;
        } else {
            high = middle;
            high_key = middle_key;
        }
    }
    return low;
}

static void add_hint(struct cfi_index *index, uint32_t found)
{
    int64_t key = table_key(index, found);
    if (key < index->first || key > index->last)
        return; /* the table is not sorted */
    uint32_t part = part_of(index, key);
    if (index->before[part + 1] < found)
        index->before[part + 1] = found;
    if (index->after[part - 1] == 0 || index->after[part - 1] > found)
        index->after[part - 1] = found;
}

/* The FDE for pc, or NULL. */
static const uint8_t *search_table(uint64_t pc, struct cfi_index *index)
{
    int64_t key = (int64_t)(pc - (uint64_t)(uintptr_t)index->hdr);
    uint32_t found = index->count - 1;
    if (key < index->first)
        return NULL;
    if (key < index->last) {
        found = search(index, key);
        add_hint(index, found);
    }
    return index->hdr + (int32_t)get_u32(index->entries + 8 * (uint64_t)found + 4);
}

uint64_t cfi_next_function(uint64_t pc, struct cfi_index *index)
{
    int64_t key = (int64_t)(pc - (uint64_t)(uintptr_t)index->hdr);
    if (key >= index->last)
        return 0;
    uint32_t next = key < index->first ? 0 : search(index, key) + 1;
    return (uint64_t)(uintptr_t)index->hdr + (uint64_t)(int64_t)table_key(index, next);
}

enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_PRIMARY = 0xc0,
};

/* The machine that runs CFI instructions. */
struct machine {
    const struct cfi_cie *cie;
    uint64_t location, pc;
    struct cfi_row *row;
    const struct cfi_row *initial; /* after the CIE's instructions; NULL while they run */
    struct cfi_row *remembered;    /* CFI_MAX_REMEMBERED of them */
    uint64_t row_start;
    unsigned depth;
    bool bad;
};

/* The product modulo 2^64: a damaged factor must not be undefined behavior. */
static int64_t scaled(uint64_t factor, int64_t align)
{
    return (int64_t)(factor * (uint64_t)align);
}

static struct reg_rule offset_rule(enum reg_rule_kind kind, int64_t offset)
{
    return (struct reg_rule){.kind = kind, .offset = offset};
}

static void set_reg(struct machine *m, uint64_t reg, struct reg_rule rule)
{
    if (reg < DWARF_REGS) /* vector registers don't matter for unwinding */
        m->row->reg[reg] = rule;
}

static void restore_reg(struct machine *m, uint64_t reg)
{
    if (reg < DWARF_REGS)
        m->row->reg[reg] = m->initial ? m->initial->reg[reg] : (struct reg_rule){.kind = REG_SAME};
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    if (reg >= DWARF_REGS)
        m->bad = true;
    m->row->cfa_reg = (uint8_t)reg;
    m->row->cfa_offset = offset;
    m->row->cfa_expr = NULL;
}

static struct reg_rule read_expression(struct cfi_cursor *c, enum reg_rule_kind kind)
{
    struct reg_rule rule = {.kind = kind, .expr = c->at};
    uint64_t size = cfi_uleb(c);
    if (cfi_has(c, size))
        c->at += size;
    return rule;
}

static void remember(struct machine *m)
{
    if (m->depth < CFI_MAX_REMEMBERED)
        m->remembered[m->depth++] = *m->row;
    else
        m->bad = true;
}

static void restore_state(struct machine *m)
{
    if (m->depth > 0)
        *m->row = m->remembered[--m->depth];
    else
        m->bad = true;
}

static void run_extended(struct machine *m, struct cfi_cursor *c, uint8_t opcode)
{
    int64_t align = m->cie->data_align;
    uint64_t reg;
    switch (opcode) {
    case CFA_NOP: break;
    case CFA_SET_LOC: m->location = cfi_pointer(c, m->cie->pointer_encoding); break;
    case CFA_ADVANCE_LOC1: m->location += cfi_uint(c, 1) * m->cie->code_align; break;
    case CFA_ADVANCE_LOC2: m->location += cfi_uint(c, 2) * m->cie->code_align; break;
    case CFA_ADVANCE_LOC4: m->location += cfi_uint(c, 4) * m->cie->code_align; break;
    case CFA_OFFSET_EXTENDED:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_AT_CFA, scaled(cfi_uleb(c), align)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_AT_CFA, scaled((uint64_t)cfi_sleb(c), align)));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_AT_CFA, scaled(-cfi_uleb(c), align)));
        break;
    case CFA_VAL_OFFSET:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_CFA_PLUS, scaled(cfi_uleb(c), align)));
        break;
    case CFA_VAL_OFFSET_SF:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_CFA_PLUS, scaled((uint64_t)cfi_sleb(c), align)));
        break;
    case CFA_RESTORE_EXTENDED: restore_reg(m, cfi_uleb(c)); break;
    case CFA_UNDEFINED: set_reg(m, cfi_uleb(c), (struct reg_rule){.kind = REG_UNDEFINED}); break;
    case CFA_SAME_VALUE: set_reg(m, cfi_uleb(c), (struct reg_rule){.kind = REG_SAME}); break;
    case CFA_REGISTER:
        reg = cfi_uleb(c);
        set_reg(m, reg, offset_rule(REG_IN_REG, (int64_t)cfi_uleb(c)));
        break;
    case CFA_EXPRESSION:
        reg = cfi_uleb(c);
        set_reg(m, reg, read_expression(c, REG_AT_EXPR));
        break;
    case CFA_VAL_EXPRESSION:
        reg = cfi_uleb(c);
        set_reg(m, reg, read_expression(c, REG_IS_EXPR));
        break;
    case CFA_REMEMBER_STATE: remember(m); break;
    case CFA_RESTORE_STATE: restore_state(m); break;
    case CFA_DEF_CFA:
        reg = cfi_uleb(c);
        set_cfa(m, reg, (int64_t)cfi_uleb(c));
        break;
    case CFA_DEF_CFA_SF:
        reg = cfi_uleb(c);
        set_cfa(m, reg, scaled((uint64_t)cfi_sleb(c), align));
        break;
    case CFA_DEF_CFA_REGISTER: set_cfa(m, cfi_uleb(c), m->row->cfa_offset); break;
    case CFA_DEF_CFA_OFFSET: m->row->cfa_offset = (int64_t)cfi_uleb(c); break;
    case CFA_DEF_CFA_OFFSET_SF: m->row->cfa_offset = scaled((uint64_t)cfi_sleb(c), align); break;
    case CFA_DEF_CFA_EXPRESSION: m->row->cfa_expr = read_expression(c, REG_IS_EXPR).expr; break;
    case CFA_GNU_ARGS_SIZE: cfi_uleb(c); break;
    default: m->bad = true; break;
    }
}

/* Runs instructions until the row for m->pc is complete. m->location is then the begin of the next
 * row, or, for the last row, not after m->pc. */
static bool run(struct machine *m, const uint8_t *at, const uint8_t *end)
{
    struct cfi_cursor c = {.at = at, .end = end};
    while (c.at < c.end && !m->bad && !c.bad) {
        uint8_t opcode = *c.at++;
        uint8_t low = opcode & (uint8_t)~CFA_PRIMARY;
        switch (opcode & CFA_PRIMARY) {
        case CFA_ADVANCE_LOC: m->location += low * m->cie->code_align; break;
        case CFA_OFFSET: {
            int64_t offset = scaled(cfi_uleb(&c), m->cie->data_align);
            set_reg(m, low, offset_rule(REG_AT_CFA, offset));
            break;
        }
        case CFA_RESTORE: restore_reg(m, low); break;
        default: run_extended(m, &c, opcode); break;
        }
        if (m->location > m->pc)
            break;
        m->row_start = m->location;
    }
    return !m->bad && !c.bad;
}

/* A cursor over the entry at `at`, from its id on. */
static struct cfi_cursor open_entry(const uint8_t *at)
{
    struct cfi_cursor c = {.at = at, .end = at + 12 + INT32_MAX}; /* no entry is longer */
    return cfi_entry(&c);
}

/* Parses the CIE at `at`, and runs its instructions, which give scratch->initial. */
static bool load_cie(const uint8_t *at, struct cfi_scratch *scratch)
{
    if (scratch->cie_at == at)
        return true;
    scratch->cie_at = NULL; /* in case a read faults, or the data is bad */
    struct cfi_cursor c = open_entry(at);
    if (c.bad || cfi_uint(&c, 4) != 0 || !cfi_parse_cie(&c, &scratch->cie) ||
        scratch->cie.return_register != DWARF_RIP)
        return false;
    struct cfi_row *row = &scratch->initial;
    struct machine m = {
        .cie = &scratch->cie, .pc = UINT64_MAX, .row = row, .remembered = scratch->remembered};
    *row = (struct cfi_row){.signal_frame = scratch->cie.signal_frame};
    if (!run(&m, scratch->cie.instructions, scratch->cie.end))
        return false;
    scratch->cie_at = at;
    return true;
}

static bool load_fde(const uint8_t *at, struct cfi_scratch *scratch, struct cfi_fde *fde)
{
    struct cfi_cursor c = open_entry(at);
    const uint8_t *id_at = c.at;
    uint64_t distance = cfi_uint(&c, 4);
    return !c.bad && distance != 0 && load_cie(id_at - distance, scratch) &&
           cfi_parse_fde(&c, &scratch->cie, fde);
}

const struct cfi_row *cfi_row_at(uint64_t pc, struct cfi_index *index, struct cfi_scratch *scratch)
{
    struct cfi_fde fde;
    const uint8_t *at = search_table(pc, index);
    if (!at || !load_fde(at, scratch, &fde) || pc - fde.begin >= fde.range)
        return NULL;
    struct cfi_row *row = &scratch->row;
    struct machine m = {
        .cie = &scratch->cie,
        .location = fde.begin,
        .pc = pc,
        .row = row,
        .initial = &scratch->initial,
        .remembered = scratch->remembered,
        .row_start = fde.begin,
    };
    *row = scratch->initial;
    if (!run(&m, fde.instructions, fde.end))
        return NULL;
    row->start = m.row_start;
    row->end = m.location > pc ? m.location : fde.begin + fde.range;
    row->function = fde.begin;
    row->function_end = fde.begin + fde.range;
    return row;
}
