/* Walks backwards through the instructions of a decoded fragment, along the way that leads to an
 * instruction: the ones before it and, where that one is only jumped to, the jump to it. */
#ifndef HPCSTRUCT_BACKWARD_SLICE_H
#define HPCSTRUCT_BACKWARD_SLICE_H

#include "hpcstruct/code/decode.h"

/* A fragment with its instructions and flows. */
struct decoded {
    const struct decoder *decoder;
    const struct code_fragment *fragment;
    const struct flows *flows;
};

/* An instruction with its operands. */
struct instruction {
    uint32_t index; /* in decoder->offsets */
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

bool instruction_fetch(const struct decoded *decoded, uint32_t index, struct instruction *out);

/* The index of the instruction at an offset, or UINT32_MAX when none begins there. */
uint32_t instruction_index(const struct decoder *decoder, uint32_t offset);

/* The 64-bit register that a register is a part of. */
ZydisRegister whole_register(ZydisRegister r);

/* Whether an instruction changes (a part of) a 64-bit register; a call changes all that the ABI
 * does not preserve. */
bool instruction_writes(const struct instruction *instruction, ZydisRegister r);

/* Whether an operand is (a part of) a 64-bit register. */
bool operand_is_register(const ZydisDecodedOperand *operand, ZydisRegister r);

/* Whether an instruction copies between general registers, perhaps with a change of width. */
bool instruction_is_copy(const struct instruction *instruction);

/* The constant that an instruction writes to its first operand (an address of its own or an
 * immediate value); false when it writes none. */
bool instruction_constant(const struct decoded *decoded, const struct instruction *instruction,
                          uint64_t *value);

struct backward {
    const struct decoded *decoded;
    uint32_t index;      /* where the walk is */
    uint32_t real_index; /* the same, or the instruction behind the padding at index */
    unsigned steps;      /* that may still be done */
    unsigned jumps;      /* that may still be followed */
    bool jumped;         /* the last step went from a jump's target to the jump */
};

/* A walk that starts at (before) the instruction with this index. */
struct backward backward_from(const struct decoded *decoded, uint32_t index);

/* Goes to the instruction before; false at the end of the walk. */
bool backward_step(struct backward *walk, struct instruction *out);

/* The constant that a 64-bit register holds before the instruction with this index; false when it
 * is not found nearby. */
bool register_constant(const struct decoded *decoded, uint32_t index, ZydisRegister r,
                       uint64_t *value);

#endif
