/* Signal handler: everything here runs in the sampling handler; no state, no libc.
 *
 * Call frame information: finds the FDE of an address in .eh_frame through .eh_frame_hdr and runs
 * its instructions up to that address, giving the row of unwind rules that holds there.
 * After the DWARF 5 standard, section 6.4, and the Linux Standard Base's description of .eh_frame.
 *
 * The sections are read directly: callers are in a guarded region (guard.h). Malformed data gives
 * "no row", never an endless loop: every step consumes bytes within the FDE. */
#ifndef HPCRUN_UNWIND_CFI_H
#define HPCRUN_UNWIND_CFI_H

#include "lib/cfi-decode.h"

/* DWARF register numbers of x86-64. */
enum {
    DWARF_RAX = 0,
    DWARF_RDX = 1,
    DWARF_RBX = 3,
    DWARF_RBP = 6,
    DWARF_RSP = 7,
    DWARF_RIP = 16,
    DWARF_REGS = 17
};

#define CFI_PARTS 256

enum reg_rule_kind {
    REG_SAME,      /* the default of a callee-saved register: not changed */
    REG_UNDEFINED, /* not recoverable; for the return address: the outermost frame */
    REG_AT_CFA,    /* saved at CFA + offset */
    REG_CFA_PLUS,  /* is CFA + offset */
    REG_IN_REG,    /* is in register `offset` */
    REG_AT_EXPR,   /* saved at the address that the expression gives */
    REG_IS_EXPR,   /* is the value of the expression */
};

/* An expression is a pointer to its size (ULEB128), which its operations follow. */
struct reg_rule {
    union {
        int64_t offset;
        const uint8_t *expr;
    };
    enum reg_rule_kind kind;
};

/* The rules at one address. The CFA is register cfa_reg + cfa_offset, or cfa_expr when not NULL. */
struct cfi_row {
    uint64_t start, end; /* the addresses for which the row holds */
    uint64_t function;   /* where the code of its FDE begins */
    int64_t cfa_offset;
    const uint8_t *cfa_expr;
    uint8_t cfa_reg;
    bool signal_frame; /* the augmentation has 'S' */
    struct reg_rule reg[DWARF_REGS];
};

/* What look-ups in a module share: its search table, and where earlier ones ended in it. */
struct cfi_index {
    const uint8_t *hdr, *entries;
    uint32_t count;
    int32_t first, last; /* keys of the table: addresses relative to hdr */
    /* For each of equal parts of [first, last]: the last entry that earlier searches found in the
     * part before it, and the first that they found in the part after it; 0 when none was. */
    uint32_t before[CFI_PARTS + 2], after[CFI_PARTS + 2];
};

#define CFI_MAX_REMEMBERED 4 /* compilers nest one deep */

/* Memory for look-ups, kept off the stack: a program's signal stack may be small. Zeroed at first,
 * and again when modules may have been unloaded. */
struct cfi_scratch {
    struct cfi_row row, initial, remembered[CFI_MAX_REMEMBERED];
    struct cfi_cie
        cie; /* the last one, whose row is `initial`: most functions of a module share it */
    const uint8_t *cie_at;  /* its address; NULL: none */
    struct cfi_index index; /* for a module that is looked at once */
};

/* Opens the .eh_frame_hdr at `hdr`; false when there is no table in it that can be searched. */
bool cfi_open(struct cfi_index *index, const uint8_t *hdr);

/* The row for `pc` (for a caller's frame: return address - 1), in scratch->row; NULL when no FDE
 * covers pc or the data makes no sense. */
const struct cfi_row *cfi_row_at(uint64_t pc, struct cfi_index *index, struct cfi_scratch *scratch);

#endif
