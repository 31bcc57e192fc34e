/* Lists what could not be resolved in a binary: bytes that are no instruction, code that neither a
 * symbol nor a frame description declares, indirect jumps without a table, irreducible loops,
 * procedures without a name or without source lines. */
#ifndef HPCSTRUCT_GAPS_H
#define HPCSTRUCT_GAPS_H

#include "hpcstruct/structure/module-structure.h"

/* Writes a table with the number and size of the gaps of each kind, then a line for each gap, by
 * address:
 *
 *     0x4011a0       12 indirect-jump    procedure
 *
 * `missing_units`: compilation units whose .dwo file was not found. False, with errno set, if the
 * stream reports an error. */
bool gaps_write(FILE *out, const struct structure *structure, const char *path,
                uint32_t missing_units);

#endif
