/* Matches the code before an indirect jump with the forms that compilers emit for jump tables. */
#ifndef HPCSTRUCT_JUMP_TABLE_PATTERN_H
#define HPCSTRUCT_JUMP_TABLE_PATTERN_H

#include "hpcstruct/code/backward-slice.h"

/* The load of an entry. */
struct entry_load {
    uint32_t index;      /* of the instruction that loads the entry, or of the jump itself */
    unsigned entry_size; /* 8: an address; 4: an offset */
    ZydisDecodedOperandMem memory; /* the operand that is the entry */
    /* The base that an offset is added to: a known value, a register, or something in memory
     * (`base` is then NONE). For an address: the table, if its address is known. */
    bool base_known;
    uint64_t base_value;
    ZydisRegister base;
};

/* Finds the load for the indirect jump with this index. False if the target does not come from a
 * table. */
bool find_entry_load(const struct decoded_fragment *decoded, uint32_t jump,
                     struct entry_load *load);

#define NO_BOUND UINT32_MAX
/* More entries than any compiler emits. */
#define MAX_ENTRIES 65536

/* The number of values that the index register (or ZYDIS_REGISTER_NONE) can have at the instruction
 * with index `load`: at most MAX_ENTRIES, or NO_BOUND. */
uint32_t find_index_bound(const struct decoded_fragment *decoded, uint32_t load,
                          ZydisRegister index);

#endif
