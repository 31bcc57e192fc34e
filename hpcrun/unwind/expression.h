/* Signal handler: everything here runs in the sampling handler.
 *
 * DWARF expressions (DWARF 5, section 2.5), as far as call frame information uses them. */
#ifndef HPCRUN_UNWIND_EXPRESSION_H
#define HPCRUN_UNWIND_EXPRESSION_H

#include "hpcrun/unwind/memory.h"

/* Evaluates the expression at `expr` (its size, ULEB128, then its operations) with the 17 registers
 * `reg`; `initial`, when not NULL, is pushed first. False when an operation is unknown, the stack
 * is misused, memory is not readable or it runs for too long. */
bool expression_evaluate(const uint8_t *expr, const uint64_t *reg, const uint64_t *initial,
                         struct memory *memory, uint64_t *result);

#endif
