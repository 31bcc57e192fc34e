#include "hpcstruct/code/backward-slice.h"

#include "lib/binary-search.h"

#include <stdlib.h>

/* Bounds of the time that one slice takes. */
#define MAX_STEPS 96
#define MAX_JUMPS 4

bool instruction_decode(const struct decoded_fragment *decoded, uint32_t index,
                        struct instruction *out)
{
    const struct code_fragment *fragment = decoded->fragment;
    uint32_t offset = decoded->decoder->offsets.at[index];
    out->index = index;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoded->decoder->zydis, fragment->bytes + offset,
                                               fragment->end - fragment->begin - offset, &out->info,
                                               out->operands));
}

uint32_t instruction_index(const struct decoder *decoder, uint32_t offset)
{
    size_t at = partition_point(i, decoder->offsets.n, decoder->offsets.at[i] < offset);
    bool found = at < decoder->offsets.n && decoder->offsets.at[at] == offset;
    return found ? (uint32_t)at : UINT32_MAX;
}

ZydisRegister whole_register(ZydisRegister r)
{
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

static bool preserved_by_calls(ZydisRegister r)
{
    return r == ZYDIS_REGISTER_RBX || r == ZYDIS_REGISTER_RBP || r == ZYDIS_REGISTER_RSP ||
           (r >= ZYDIS_REGISTER_R12 && r <= ZYDIS_REGISTER_R15);
}

bool instruction_writes(const struct instruction *instruction, ZydisRegister r)
{
    if (instruction->info.meta.category == ZYDIS_CATEGORY_CALL && !preserved_by_calls(r))
        return true;
    for (size_t i = 0; i < instruction->info.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            whole_register(operand->reg.value) == r)
            return true;
    }
    return false;
}

bool operand_is_register(const ZydisDecodedOperand *operand, ZydisRegister r)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && whole_register(operand->reg.value) == r;
}

bool instruction_is_copy(const struct instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    switch (instruction->info.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default: return false;
    }
}

bool instruction_constant(const struct decoded_fragment *decoded,
                          const struct instruction *instruction, uint64_t *value)
{
    const ZydisDecodedOperand *source = &instruction->operands[1];
    if (instruction->info.mnemonic == ZYDIS_MNEMONIC_LEA &&
        source->mem.base == ZYDIS_REGISTER_RIP) {
        uint64_t next = decoded->fragment->begin +
                        decoded->decoder->offsets.at[instruction->index] + instruction->info.length;
        *value = next + (uint64_t)source->mem.disp.value;
        return true;
    }
    if (instruction->info.mnemonic == ZYDIS_MNEMONIC_MOV &&
        source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *value = source->imm.value.u;
        return true;
    }
    return false;
}

struct backward_slice slice_from(const struct decoded_fragment *decoded, uint32_t index)
{
    return (struct backward_slice){.decoded = decoded,
                                   .index = index,
                                   .padded_index = index,
                                   .steps_left = MAX_STEPS,
                                   .jumps_left = MAX_JUMPS};
}

static bool falls_through(const struct instruction *instruction)
{
    ZydisInstructionCategory category = instruction->info.meta.category;
    return category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET &&
           instruction->info.mnemonic != ZYDIS_MNEMONIC_UD2;
}

static int by_target(const void *a, const void *b)
{
    const struct jump_within *x = a, *y = b;
    return x->target != y->target ? compare_unsigned(x->target, y->target)
                                  : compare_unsigned(x->from, y->from);
}

/* Lists the jumps by their targets. A search through all transfers for each step of a slice would take
 * time of the square of the size: code without frame descriptions or symbols is one large fragment. */
static void list_jumps(const struct decoded_fragment *decoded)
{
    struct decoder *decoder = decoded->decoder;
    decoder->jumps.n = 0;
    decoder->has_jumps = true;
    for (size_t i = 0; i < decoded->flow->transfers.n; i++) {
        const struct transfer *transfer = &decoded->flow->transfers.at[i];
        bool is_jump = transfer->kind == TRANSFER_JUMP || transfer->kind == TRANSFER_BRANCH;
        if (is_jump && transfer->target >= 0)
            vec_push(&decoder->jumps,
                     (struct jump_within){(uint32_t)transfer->target, transfer->offset});
    }
    vec_sort(&decoder->jumps, by_target);
}

/* The index of the nearest jump or branch to an offset, the one before it if two are as near; or
 * UINT32_MAX. */
static uint32_t nearest_jump_to(const struct decoded_fragment *decoded, uint32_t offset)
{
    struct decoder *decoder = decoded->decoder;
    if (!decoder->has_jumps)
        list_jumps(decoded);
    const struct jump_within *jumps = decoder->jumps.at, wanted = {offset, offset};
    size_t after = partition_point(i, decoder->jumps.n, by_target(&jumps[i], &wanted) < 0);
    bool has_before = after > 0 && jumps[after - 1].target == offset;
    bool has_after = after < decoder->jumps.n && jumps[after].target == offset;
    if (has_before && has_after)
        has_before = offset - jumps[after - 1].from <= jumps[after].from - offset;
    if (!has_before && !has_after)
        return UINT32_MAX;
    return instruction_index(decoder, jumps[has_before ? after - 1 : after].from);
}

bool slice_step(struct backward_slice *slice, struct instruction *out)
{
    const struct decoded_fragment *decoded = slice->decoded;
    if (slice->steps_left == 0)
        return false;
    slice->steps_left--;
    slice->jumped = false;
    bool comes_from_before = slice->index > 0 &&
                             instruction_decode(decoded, slice->index - 1, out) &&
                             falls_through(out);
    if (comes_from_before) {
        slice->index--;
    } else {
        uint32_t jump =
            slice->jumps_left
                ? nearest_jump_to(decoded, decoded->decoder->offsets.at[slice->padded_index])
                : UINT32_MAX;
        if (jump == UINT32_MAX || !instruction_decode(decoded, jump, out))
            return false;
        slice->jumps_left--;
        slice->jumped = true;
        slice->index = jump;
    }
    if (out->info.mnemonic != ZYDIS_MNEMONIC_NOP)
        slice->padded_index = slice->index;
    return true;
}

bool register_constant(const struct decoded_fragment *decoded, uint32_t index, ZydisRegister r,
                       uint64_t *value)
{
    struct backward_slice slice = slice_from(decoded, index);
    struct instruction instruction;
    while (slice_step(&slice, &instruction)) {
        if (!instruction_writes(&instruction, r))
            continue;
        if (!instruction_is_copy(&instruction))
            return instruction_constant(decoded, &instruction, value);
        r = whole_register(instruction.operands[1].reg.value);
    }
    return false;
}
