/* Assembly that saves a register on the stack and restores it, and tells unwinders so: around a
 * call of ours in the middle of one of the program's. A string each. */
#ifndef HPCRUN_HOOKS_PUSH_POP_H
#define HPCRUN_HOOKS_PUSH_POP_H

#define PUSH(reg) "    push %" #reg "\n    .cfi_adjust_cfa_offset 8\n"
#define POP(reg)  "    pop %" #reg "\n    .cfi_adjust_cfa_offset -8\n"

#endif
