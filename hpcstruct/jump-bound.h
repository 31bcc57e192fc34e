/* How many entries a jump table has, as the code that leads to the jump tells: it compares the
 * index with a limit, or masks it. */
#ifndef HPCSTRUCT_JUMP_BOUND_H
#define HPCSTRUCT_JUMP_BOUND_H

#include "hpcstruct/backward.h"

#define NO_BOUND UINT32_MAX
/* More entries than any compiler emits. */
#define MAX_ENTRIES 65536

/* The number of values that a register (NONE: no index) can have at the instruction with index
 * `load`; NO_BOUND when that is not found out, else at most MAX_ENTRIES. */
uint32_t find_jump_bound(const struct decoded *decoded, uint32_t load, ZydisRegister index);

#endif
