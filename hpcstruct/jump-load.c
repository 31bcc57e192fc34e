#include "hpcstruct/jump-load.h"

static bool is_load(const struct instruction *instruction, ZydisMnemonic mnemonic, unsigned bits)
{
    return instruction->info.mnemonic == mnemonic &&
           instruction->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           instruction->operands[1].size == bits;
}

/* Follows the two summands of a 32-bit relative entry back to the load of the entry. `other` is
 * ZYDIS_REGISTER_NONE when it is in memory. */
static bool find_relative_load(const struct decoded *decoded, struct backward walk,
                               ZydisRegister one, ZydisRegister other, struct jump_load *load)
{
    ZydisRegister wanted[2] = {one, other};
    bool constant[2] = {false, other == ZYDIS_REGISTER_NONE};
    struct instruction instruction;
    while (backward_step(&walk, &instruction)) {
        for (unsigned i = 0; i < 2; i++) {
            if (constant[i] || !instruction_writes(&instruction, wanted[i]))
                continue;
            if (is_load(&instruction, ZYDIS_MNEMONIC_MOVSXD, 32) ||
                is_load(&instruction, ZYDIS_MNEMONIC_MOV, 32)) {
                load->index = instruction.index;
                load->entry_size = 4;
                load->memory = instruction.operands[1].mem;
                load->base = constant[!i] ? ZYDIS_REGISTER_NONE : wanted[!i];
                if (!constant[!i] &&
                    register_constant(decoded, instruction.index, wanted[!i], &load->base_value))
                    load->base_known = true;
                return true;
            }
            if (instruction.info.mnemonic == ZYDIS_MNEMONIC_CDQE)
                continue;
            if (instruction_is_copy(&instruction))
                wanted[i] = whole_register(instruction.operands[1].reg.value);
            else if (instruction_constant(decoded, &instruction, &load->base_value))
                constant[i] = load->base_known = true;
            else if (is_load(&instruction, ZYDIS_MNEMONIC_MOV, 64))
                constant[i] = true; /* the table's address, kept in memory */
            else
                return false;
            break;
        }
    }
    return false;
}

/* An entry whose address was computed: add $TABLE, R; mov (R), R. */
static bool find_added_address(struct backward walk, struct jump_load *load)
{
    struct instruction instruction;
    if (load->memory.base == ZYDIS_REGISTER_NONE || !backward_step(&walk, &instruction) ||
        instruction.info.mnemonic != ZYDIS_MNEMONIC_ADD ||
        !operand_is_register(&instruction.operands[0], load->memory.base) ||
        instruction.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    load->base_known = true;
    load->base_value = instruction.operands[1].imm.value.u;
    return true;
}

/* Whether it is lea (ONE,OTHER), REGISTER. */
static bool is_sum_of_registers(const struct instruction *instruction)
{
    const ZydisDecodedOperandMem *sum = &instruction->operands[1].mem;
    return instruction->info.mnemonic == ZYDIS_MNEMONIC_LEA && sum->base != ZYDIS_REGISTER_NONE &&
           sum->index != ZYDIS_REGISTER_NONE && sum->scale == 1 && sum->disp.value == 0;
}

/* Follows the target register of a jump back to the load of the entry. */
static bool find_load_to(const struct decoded *decoded, uint32_t jump, ZydisRegister target,
                         struct jump_load *load)
{
    struct backward walk = backward_from(decoded, jump);
    struct instruction instruction;
    while (backward_step(&walk, &instruction)) {
        if (!instruction_writes(&instruction, target))
            continue;
        const ZydisDecodedOperand *operands = instruction.operands;
        if (instruction_is_copy(&instruction)) {
            target = whole_register(operands[1].reg.value);
            continue;
        }
        if (is_load(&instruction, ZYDIS_MNEMONIC_MOV, 64)) {
            load->index = instruction.index;
            load->entry_size = 8;
            load->memory = operands[1].mem;
            return load->memory.index != ZYDIS_REGISTER_NONE || find_added_address(walk, load);
        }
        if (instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD &&
            operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            return find_relative_load(decoded, walk, target, whole_register(operands[1].reg.value),
                                      load);
        if (instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD &&
            operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return find_relative_load(decoded, walk, target, ZYDIS_REGISTER_NONE, load);
        if (is_sum_of_registers(&instruction))
            return find_relative_load(decoded, walk, operands[1].mem.base, operands[1].mem.index,
                                      load);
        return false;
    }
    return false;
}

bool find_jump_load(const struct decoded *decoded, uint32_t jump, struct jump_load *load)
{
    struct instruction instruction;
    *load = (struct jump_load){.base = ZYDIS_REGISTER_NONE};
    if (!instruction_fetch(decoded, jump, &instruction))
        return false;
    const ZydisDecodedOperand *target = &instruction.operands[0];
    if (target->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return find_load_to(decoded, jump, target->reg.value, load);
    if (target->type != ZYDIS_OPERAND_TYPE_MEMORY || target->mem.index == ZYDIS_REGISTER_NONE)
        return false;
    load->index = jump;
    load->entry_size = 8;
    load->memory = target->mem;
    return true;
}
