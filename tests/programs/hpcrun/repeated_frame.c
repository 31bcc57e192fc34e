/* repeated_frame MS: burns MS milliseconds below a function with wrong unwind information: the caller is the function
 * itself, 8 bytes further up the stack. DWARF expressions say so, whose evaluation needs all registers. */
#include "burn.h"

void burn_below(uint64_t ns);

/* DW_CFA_def_cfa_expression: rsp + 8. DW_CFA_val_expression: the return address is the frame's own. */
__asm__(".text\n"
        ".globl burn_below\n"
        ".type burn_below, @function\n"
        "burn_below:\n"
        "    .cfi_startproc\n"
        "    .cfi_escape 0x0f, 2, 0x77, 8\n"
        "    .cfi_escape 0x16, 16, 2, 0x80, 0\n"
        "    nop\n"
        "    sub $8, %rsp\n"
        "    call burn_here\n"
        "    add $8, %rsp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size burn_below, .-burn_below\n");

__attribute__((noinline, used)) void burn_here(uint64_t ns);

void burn_here(uint64_t ns)
{
    burn(ns);
    burn_sink++; /* no tail call */
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    burn_below((uint64_t)(atof(arguments[1]) * 1e6));
    return 0;
}
