#include "hpcstruct/code/decode.h"

#include "hpcstruct/code/quick-decode.h"
#include "hpcstruct/elf/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Offsets in a fragment fit 31 bits; no function is longer. */
#define MAX_DECODED INT32_MAX

void decoder_init(struct decoder *decoder)
{
    *decoder = (struct decoder){0};
    ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

void decoder_free(struct decoder *decoder)
{
    mem_pool_free(&decoder->kept);
    vec_free(&decoder->transfers);
    vec_free(&decoder->offsets);
    vec_free(&decoder->indirect_jumps);
    vec_free(&decoder->address_loads);
    vec_free(&decoder->jumps);
}

/* ---- transfers of control ---- */

static bool has_rip_relative_operand(const ZydisDecodedInstruction *instruction)
{
    return instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

/* Whether an indirect call is call *SLOT(%rip) of a function that never returns. */
static bool calls_never_returning_import(const struct decode_context *context,
                                         const ZydisDecodedInstruction *instruction,
                                         uint64_t address)
{
    if (!has_rip_relative_operand(instruction))
        return false;
    const struct slot_relocation *slot =
        relocations_slot(context->relocations,
                         address + instruction->length + (uint64_t)instruction->raw.disp.value);
    return slot && slot->name && is_no_return_name(slot->name);
}

/* The target of a jump, as in struct transfer. `next`: the offset of the next instruction. */
static int32_t target_after(uint32_t next, int64_t displacement)
{
    int64_t target = (int64_t)next + displacement;
    return target < INT32_MIN || target > INT32_MAX ? INT32_MIN : (int32_t)target;
}

/* Describes how an instruction transfers control; false if it does not. */
static bool classify(const ZydisDecodedInstruction *instruction, uint32_t offset,
                     struct transfer *transfer)
{
    *transfer =
        (struct transfer){.offset = offset, .target = NO_JUMP_TABLE, .length = instruction->length};
    bool direct = instruction->raw.imm[0].is_relative;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: transfer->kind = TRANSFER_BRANCH; break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (instruction->mnemonic != ZYDIS_MNEMONIC_JMP)
            return false;
        transfer->kind = direct ? TRANSFER_JUMP : TRANSFER_JUMP_INDIRECT;
        break;
    case ZYDIS_CATEGORY_CALL:
        transfer->kind = direct ? TRANSFER_CALL : TRANSFER_CALL_INDIRECT;
        break;
    case ZYDIS_CATEGORY_RET: transfer->kind = TRANSFER_RETURN; return true;
    default:
        transfer->kind = TRANSFER_STOP;
        return instruction->mnemonic == ZYDIS_MNEMONIC_UD2 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_UD1 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_UD0 ||
               instruction->mnemonic == ZYDIS_MNEMONIC_HLT;
    }
    if (direct)
        transfer->target =
            target_after(offset + instruction->length, instruction->raw.imm[0].value.s);
    return direct || transfer->kind != TRANSFER_BRANCH;
}

/* ---- instructions by which code waits ---- */

/* Compilers set up the arguments of a system call right before it. */
#define MAX_ARGUMENT_INSTRUCTIONS 12

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

static bool transfers_control(const ZydisDecodedInstruction *instruction)
{
    ZydisInstructionCategory category = instruction->meta.category;
    return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR ||
           category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET ||
           category == ZYDIS_CATEGORY_SYSCALL;
}

/* Whether the decoder's last instruction, a `syscall`, may wait for a futex: whether an instruction
 * before it sets the fourth argument (r10). Among the system calls that runtimes make without libc,
 * FUTEX_WAIT has one, the timeout; FUTEX_WAKE has none. The search ends at a transfer of control or
 * after MAX_ARGUMENT_INSTRUCTIONS. */
static bool waits_in_system_call(const struct decoder *decoder,
                                 const struct code_fragment *fragment)
{
    assert(decoder->offsets.n);
    size_t last = decoder->offsets.n - 1;
    for (size_t back = 1; back <= MAX_ARGUMENT_INSTRUCTIONS && back <= last; back++) {
        uint32_t offset = decoder->offsets.at[last - back];
        uint32_t size = decoder->offsets.at[last - back + 1] - offset;
        ZydisDecoderContext context;
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
                &decoder->zydis, &context, fragment->bytes + offset, size, &instruction)) ||
            transfers_control(&instruction))
            return false;
        if (writes_r10(&decoder->zydis, &instruction, &context))
            return true;
    }
    return false;
}

/* The last one of eight `nop`s of one byte, by which OpenBLAS 0.3.34 waits for a short time. Compilers use longer ones. */
static bool ends_nops(const struct decoder *decoder, const struct code_fragment *fragment,
                      const ZydisDecodedInstruction *instruction)
{
    uint32_t offset = decoder->offsets.at[decoder->offsets.n - 1];
    return instruction->mnemonic == ZYDIS_MNEMONIC_NOP && instruction->length == 1 && offset >= 7 &&
           memcmp(fragment->bytes + offset - 7, "\x90\x90\x90\x90\x90\x90\x90\x90", 8) == 0;
}

/* Records the decoder's last instruction if code waits by it. */
static void record_waiting(const struct decoder *decoder, const struct code_fragment *fragment,
                           const ZydisDecodedInstruction *instruction, struct fragment_flow *flow)
{
    uint32_t offset = decoder->offsets.at[decoder->offsets.n - 1];
    if (instruction->mnemonic == ZYDIS_MNEMONIC_PAUSE || ends_nops(decoder, fragment, instruction))
        vec_push(&flow->pauses, offset);
    else if (instruction->mnemonic == ZYDIS_MNEMONIC_SYSCALL &&
             waits_in_system_call(decoder, fragment))
        vec_push(&flow->waits, offset);
}

/* ---- fragments ---- */

/* The fragment that is decoded. */
struct decoding {
    struct decoder *decoder;
    const struct decode_context *context;
    const struct code_fragment *fragment;
    struct fragment_flow *flow;
    uint32_t size; /* in bytes */
};

/* Decodes the instruction at `offset` with Zydis, and records what it does. Returns its length. */
static uint32_t decode_fully(const struct decoding *d, uint32_t offset)
{
    struct decoder *decoder = d->decoder;
    struct fragment_flow *flow = d->flow;
    uint32_t index = (uint32_t)decoder->offsets.n - 1;
    ZydisDecodedInstruction instruction;
    struct transfer transfer;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder->zydis, NULL,
                                                    d->fragment->bytes + offset, d->size - offset,
                                                    &instruction))) {
        if (flow->undecoded++ == 0)
            flow->first_undecoded = offset;
        return 1;
    }
    if (classify(&instruction, offset, &transfer)) {
        if (transfer.kind == TRANSFER_JUMP_INDIRECT)
            vec_push(&decoder->indirect_jumps, index);
        else if (transfer.kind == TRANSFER_CALL_INDIRECT &&
                 calls_never_returning_import(d->context, &instruction,
                                              d->fragment->begin + offset))
            transfer.never_returns = true;
        vec_push(&decoder->transfers, transfer);
    } else if (instruction.mnemonic == ZYDIS_MNEMONIC_LEA &&
               has_rip_relative_operand(&instruction)) {
        vec_push(&decoder->address_loads, index);
    } else {
        record_waiting(decoder, d->fragment, &instruction, flow);
    }
    return instruction.length;
}

static void record_quick_transfer(const struct decoding *d, uint32_t offset,
                                  const struct quick_instruction *quick)
{
    static const uint8_t kinds[] = {
        [QUICK_JUMP] = TRANSFER_JUMP,
        [QUICK_BRANCH] = TRANSFER_BRANCH,
        [QUICK_CALL] = TRANSFER_CALL,
        [QUICK_RETURN] = TRANSFER_RETURN,
    };
    struct transfer transfer = {.offset = offset,
                                .target = NO_JUMP_TABLE,
                                .length = quick->length,
                                .kind = kinds[quick->kind]};
    if (quick->kind != QUICK_RETURN)
        transfer.target = target_after(offset + quick->length, quick->displacement);
    vec_push(&d->decoder->transfers, transfer);
}

static void keep_transfers(struct decoder *decoder, struct fragment_flow *flow)
{
    size_t count = decoder->transfers.n, size = count * sizeof *flow->transfers.at;
    flow->transfers.at = mem_pool_take(&decoder->kept, size);
    flow->transfers.n = count;
    if (count)
        memcpy(flow->transfers.at, decoder->transfers.at, size);
}

void decode_fragment(struct decoder *decoder, const struct decode_context *context,
                     const struct code_fragment *fragment, struct fragment_flow *flow)
{
    assert(flow->transfers.n == 0 && flow->tables.n == 0);
    decoder->offsets.n = decoder->indirect_jumps.n = decoder->address_loads.n = 0;
    decoder->transfers.n = 0;
    decoder->has_jumps = false;
    flow->pauses.n = flow->waits.n = 0;
    flow->undecoded = 0;
    uint64_t size = fragment->end - fragment->begin;
    const struct decoding d = {decoder, context, fragment, flow,
                               (uint32_t)(size < MAX_DECODED ? size : MAX_DECODED)};
    for (uint32_t offset = 0; offset < d.size;) {
        vec_push(&decoder->offsets, offset);
        const struct quick_instruction quick =
            quick_decode(fragment->bytes + offset, d.size - offset);
        if (quick.kind == QUICK_UNKNOWN) {
            offset += decode_fully(&d, offset);
            continue;
        }
        if (quick.kind == QUICK_ADDRESS_LOAD)
            vec_push(&decoder->address_loads, (uint32_t)decoder->offsets.n - 1);
        else if (quick.kind != QUICK_PLAIN)
            record_quick_transfer(&d, offset, &quick);
        offset += quick.length;
    }
    keep_transfers(decoder, flow);
}

void fragment_flow_free(struct fragment_flow *flow)
{
    vec_free(&flow->tables);
    vec_free(&flow->targets);
    vec_free(&flow->pauses);
    vec_free(&flow->waits);
}
