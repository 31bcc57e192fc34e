#include "hpcstruct/code/decode.h"

#include "hpcstruct/elf/names.h"

#include <stdlib.h>

/* Offsets in a fragment fit 31 bits; no function is longer. */
#define MAX_DECODED INT32_MAX

void decoder_init(struct decoder *decoder)
{
    *decoder = (struct decoder){0};
    ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

void decoder_free(struct decoder *decoder)
{
    vec_free(&decoder->offsets);
    vec_free(&decoder->indirect_jumps);
    vec_free(&decoder->address_loads);
}

/* Whether the memory operand is at a displacement from the next instruction. */
static bool is_rip_relative(const ZydisDecodedInstruction *instruction)
{
    return instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

/* Whether a call goes through a slot (call *SLOT(%rip)) to a function that never returns. */
static bool calls_never_returning_import(const struct decode_context *context,
                                         const ZydisDecodedInstruction *instruction,
                                         uint64_t address)
{
    if (!is_rip_relative(instruction))
        return false;
    const struct slot_relocation *slot =
        relocations_slot(context->relocations,
                         address + instruction->length + (uint64_t)instruction->raw.disp.value);
    return slot && slot->name && is_no_return_name(slot->name);
}

static int32_t relative_target(const ZydisDecodedInstruction *instruction, uint32_t offset)
{
    int64_t target = (int64_t)offset + instruction->length + instruction->raw.imm[0].value.s;
    return target < INT32_MIN || target > INT32_MAX ? INT32_MIN : (int32_t)target;
}

/* The instruction's influence on control flow; false when it has none. */
static bool classify(const ZydisDecodedInstruction *instruction, uint32_t offset, struct flow *flow)
{
    *flow = (struct flow){.offset = offset, .target = FLOW_NO_TABLE, .length = instruction->length};
    bool direct = instruction->raw.imm[0].is_relative;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: flow->kind = FLOW_BRANCH; break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (instruction->mnemonic != ZYDIS_MNEMONIC_JMP)
            return false;
        flow->kind = direct ? FLOW_JUMP : FLOW_JUMP_INDIRECT;
        break;
    case ZYDIS_CATEGORY_CALL: flow->kind = direct ? FLOW_CALL : FLOW_CALL_INDIRECT; break;
    case ZYDIS_CATEGORY_RET: flow->kind = FLOW_RETURN; return true;
    default:
        flow->kind = FLOW_STOP;
        return instruction->mnemonic == ZYDIS_MNEMONIC_UD2 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_UD1 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_UD0 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_HLT;
    }
    if (direct)
        flow->target = relative_target(instruction, offset);
    return direct || flow->kind != FLOW_BRANCH;
}

/* ---- how code waits ---- */

/* Instructions looked at before a system call. */
#define MOST_ARGUMENT_INSTRUCTIONS 12

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

/* Whether the last of the decoder's instructions so far, a `syscall`, may be one that waits for a
 * futex: the code before it, back to where control may come from elsewhere or
 * MOST_ARGUMENT_INSTRUCTIONS, prepares a fourth argument (r10). Of the calls that runtimes make
 * themselves FUTEX_WAIT has one, the timeout, and FUTEX_WAKE has not. */
static bool waits_in_system_call(const struct decoder *decoder,
                                 const struct code_fragment *fragment)
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

/* Notes the decoder's last instruction if code waits by it. */
static void note_waiting(const struct decoder *decoder, const struct code_fragment *fragment,
                         const ZydisDecodedInstruction *instruction, struct flows *flows)
{
    uint32_t offset = decoder->offsets.at[decoder->offsets.n - 1];
    if (instruction->mnemonic == ZYDIS_MNEMONIC_PAUSE)
        vec_push(&flows->pauses, offset);
    else if (instruction->mnemonic == ZYDIS_MNEMONIC_SYSCALL &&
             waits_in_system_call(decoder, fragment))
        vec_push(&flows->waits, offset);
}

void decode_fragment(struct decoder *decoder, const struct decode_context *context,
                     const struct code_fragment *fragment, struct flows *flows)
{
    decoder->offsets.n = decoder->indirect_jumps.n = decoder->address_loads.n = 0;
    flows->pauses.n = flows->waits.n = 0;
    uint64_t size = fragment->end - fragment->begin;
    if (size > MAX_DECODED)
        size = MAX_DECODED;
    for (uint32_t offset = 0; offset < size;) {
        ZydisDecodedInstruction instruction;
        uint32_t index = (uint32_t)decoder->offsets.n;
        vec_push(&decoder->offsets, offset);
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
                &decoder->zydis, NULL, fragment->bytes + offset, size - offset, &instruction))) {
            offset++;
            continue;
        }
        struct flow flow;
        if (classify(&instruction, offset, &flow)) {
            if (flow.kind == FLOW_JUMP_INDIRECT)
                vec_push(&decoder->indirect_jumps, index);
            else if (flow.kind == FLOW_CALL_INDIRECT &&
                     calls_never_returning_import(context, &instruction, fragment->begin + offset))
                flow.never_returns = true;
            vec_push(&flows->all, flow);
        } else if (instruction.mnemonic == ZYDIS_MNEMONIC_LEA && is_rip_relative(&instruction)) {
            vec_push(&decoder->address_loads, index);
        } else {
            note_waiting(decoder, fragment, &instruction, flows);
        }
        offset += instruction.length;
    }
}

void flows_free(struct flows *flows)
{
    vec_free(&flows->all);
    vec_free(&flows->tables);
    vec_free(&flows->targets);
    vec_free(&flows->pauses);
    vec_free(&flows->waits);
}
