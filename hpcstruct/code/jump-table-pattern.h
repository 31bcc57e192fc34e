/* Where an indirect jump gets its target from: the load of an entry of a table. */
#ifndef HPCSTRUCT_JUMP_TABLE_PATTERN_H
#define HPCSTRUCT_JUMP_TABLE_PATTERN_H

#include "hpcstruct/code/backward-slice.h"

struct jump_load {
    uint32_t index;                /* of the instruction that loads the entry, or the jump itself */
    unsigned entry_size;           /* 8: an address; 4: an offset */
    ZydisDecodedOperandMem memory; /* where the entry is */
    /* What an offset is added to: a known value, or a register, or (NONE) something in memory. Of
     * an address: the table, if known. */
    bool base_known;
    uint64_t base_value;
    ZydisRegister base;
};

/* Finds the load for the indirect jump with this index. False when the target does not come from
 * anything like a table. */
bool find_jump_load(const struct decoded *decoded, uint32_t jump, struct jump_load *load);

/* How many entries a jump table has, as the code that leads to the jump tells: it compares the
 * index with a limit, or masks it. */

#define NO_BOUND UINT32_MAX
/* More entries than any compiler emits. */
#define MAX_ENTRIES 65536

/* The number of values that a register (NONE: no index) can have at the instruction with index
 * `load`; NO_BOUND when that is not found out, else at most MAX_ENTRIES. */
uint32_t find_jump_bound(const struct decoded *decoded, uint32_t load, ZydisRegister index);

#endif
