/* Signal handler: everything here runs in the sampling handler; no state, no libc.
 *
 * Call frame information: finds the FDE of an address through .eh_frame_hdr, and runs its
 * instructions up to that address. The result is the row of unwind rules for the address (DWARF 5,
 * section 6.4).
 *
 * The sections are read directly: call these functions in a guarded region (memory.h). Malformed
 * data gives no row, and never an endless loop, since every step consumes bytes of the FDE. */
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

/* `expr` points to the size of an expression (ULEB128), followed by its operations. */
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
    uint64_t function, function_end; /* its FDE's code */
    int64_t cfa_offset;
    const uint8_t *cfa_expr;
    uint8_t cfa_reg;
    bool signal_frame; /* the augmentation has 'S' */
    struct reg_rule reg[DWARF_REGS];
};

/* The search table of a module's .eh_frame_hdr, and hints from earlier look-ups. */
struct cfi_index {
    const uint8_t *hdr, *entries;
    uint32_t count;
    int32_t first, last; /* keys of the table: addresses relative to hdr */
    /* Hints: [first, last] is divided into CFI_PARTS equal parts, numbered from 1. before[i] is the
     * last entry that was found in part i - 1, after[i] the first one found in part i + 1; 0 for
     * none. */
    uint32_t before[CFI_PARTS + 2], after[CFI_PARTS + 2];
};

#define CFI_MAX_REMEMBERED 4 /* nesting of DW_CFA_remember_state; compilers use 1 */

/* Memory for look-ups; not on the stack, since a program's signal stack may be small. Zero it at
 * first, and after modules may have been unloaded. */
struct cfi_scratch {
    struct cfi_row row, initial, remembered[CFI_MAX_REMEMBERED];
    struct cfi_cie
        cie; /* the last one, whose row is `initial`: most functions of a module share it */
    const uint8_t *cie_at;  /* its address; NULL: none */
    struct cfi_index index; /* for full-step.c, which opens a module for each look-up */
};

/* Opens the .eh_frame_hdr at `hdr`; false if it has no search table of the usual format. */
bool cfi_open(struct cfi_index *index, const uint8_t *hdr);

/* The row for `pc` (of a caller's frame: return address - 1), in scratch->row. NULL if no FDE
 * covers pc or the data is malformed. */
const struct cfi_row *cfi_row_at(uint64_t pc, struct cfi_index *index, struct cfi_scratch *scratch);

/* The begin of the first function after `pc` in the table; 0 if there is none. */
uint64_t cfi_next_function(uint64_t pc, struct cfi_index *index);

#endif
