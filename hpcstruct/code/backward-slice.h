/* Backward slices in a decoded fragment: walks from an instruction against the control flow, to
 * find out where a register's value comes from.
 *
 * The walk goes to the instruction before; where control does not come from there, to the nearest
 * jump to the instruction. It is bounded in steps and in jumps. */
#ifndef HPCSTRUCT_BACKWARD_SLICE_H
#define HPCSTRUCT_BACKWARD_SLICE_H

#include "hpcstruct/code/decode.h"

/* A fragment with its instructions and its control flow. */
struct decoded_fragment {
    struct decoder *decoder; /* its `jumps` may be filled */
    const struct code_fragment *fragment;
    const struct fragment_flow *flow;
};

/* ---- instructions ---- */

/* An instruction with its operands. */
struct instruction {
    uint32_t index; /* in decoder->offsets */
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

bool instruction_decode(const struct decoded_fragment *decoded, uint32_t index,
                        struct instruction *out);

/* The index of the instruction at an offset, or UINT32_MAX if none begins there. */
uint32_t instruction_index(const struct decoder *decoder, uint32_t offset);

/* The 64-bit register that a register is a part of. */
ZydisRegister whole_register(ZydisRegister r);

/* Whether an instruction changes (a part of) a 64-bit register. A call changes all registers that
 * the ABI does not preserve. */
bool instruction_writes(const struct instruction *instruction, ZydisRegister r);

/* Whether an operand is (a part of) a 64-bit register. */
bool operand_is_register(const ZydisDecodedOperand *operand, ZydisRegister r);

/* Whether an instruction copies between general registers, with or without a change of width. */
bool instruction_is_copy(const struct instruction *instruction);

/* The constant that an instruction writes to its first operand: an address relative to itself (lea)
 * or an immediate value (mov). False if it does neither. */
bool instruction_constant(const struct decoded_fragment *decoded,
                          const struct instruction *instruction, uint64_t *value);

/* ---- slices ---- */

struct backward_slice {
    const struct decoded_fragment *decoded;
    uint32_t index;        /* current instruction */
    uint32_t padded_index; /* the same; while that is padding: the instruction after the padding */
    unsigned steps_left;
    unsigned jumps_left;
    bool jumped; /* the last step went from the target of a jump to the jump */
};

/* A slice that starts before the instruction with this index. */
struct backward_slice slice_from(const struct decoded_fragment *decoded, uint32_t index);

/* Goes to the instruction before; false at the end of the walk. */
bool slice_step(struct backward_slice *slice, struct instruction *out);

/* The constant that a 64-bit register holds before the instruction with this index; false if the
 * slice does not find one. */
bool register_constant(const struct decoded_fragment *decoded, uint32_t index, ZydisRegister r,
                       uint64_t *value);

#endif
