/* Signal handler: everything here runs in the sampling handler.
 *
 * DWARF expressions (DWARF 5, section 2.5), with the operations that call frame information uses.
 */
#ifndef HPCRUN_UNWIND_EXPRESSION_H
#define HPCRUN_UNWIND_EXPRESSION_H

#include "hpcrun/unwind/memory.h"

/* Evaluates the expression at `expr` (its size as ULEB128, then its operations). `reg` has the 17
 * registers; *initial, unless NULL, is pushed first. False for an unknown operation, overflow or
 * underflow of its stack, unreadable memory, or more than 256 steps. */
bool expression_evaluate(const uint8_t *expr, const uint64_t *reg, const uint64_t *initial,
                         struct memory *memory, uint64_t *result);

#endif
