#include "hpcstruct/wait-code.h"

static bool writes_r10(const ZydisDecoder *zydis, const ZydisDecodedInstruction *instruction,
                       const ZydisDecoderContext *context)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(zydis, context, instruction, operands,
                                                 instruction->operand_count_visible)))
        return false;
    for (unsigned i = 0; i < instruction->operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) ==
                ZYDIS_REGISTER_R10)
            return true;
    }
    return false;
}

static bool steers_control(const ZydisDecodedInstruction *instruction)
{
    ZydisInstructionCategory category = instruction->meta.category;
    return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR ||
           category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET ||
           category == ZYDIS_CATEGORY_SYSCALL;
}

bool waits_in_system_call(const struct decoder *decoder, const struct code_fragment *fragment)
{
    size_t last = decoder->offsets.n - 1;
    for (size_t back = 1; back <= MOST_ARGUMENT_INSTRUCTIONS && back <= last; back++) {
        uint32_t offset = decoder->offsets.at[last - back];
        uint32_t size = decoder->offsets.at[last - back + 1] - offset;
        ZydisDecoderContext context;
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
                &decoder->zydis, &context, fragment->bytes + offset, size, &instruction)) ||
            steers_control(&instruction))
            return false;
        if (writes_r10(&decoder->zydis, &instruction, &context))
            return true;
    }
    return false;
}
