#include "hpcstruct/code/jump-table-pattern.h"

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

/* Where the index is: in a register, or in memory at a register and a displacement. */
struct place {
    ZydisRegister reg;
    bool in_memory;
    int64_t displacement;
};

static bool is_place(const ZydisDecodedOperand *operand, const struct place *place)
{
    if (!place->in_memory)
        return operand_is_register(operand, place->reg);
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->mem.index == ZYDIS_REGISTER_NONE && operand->mem.base == place->reg &&
           operand->mem.disp.value == place->displacement;
}

static bool place_of(const ZydisDecodedOperand *operand, struct place *place)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        *place = (struct place){.reg = whole_register(operand->reg.value)};
        return true;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base == ZYDIS_REGISTER_RIP ||
        operand->mem.index != ZYDIS_REGISTER_NONE)
        return false;
    *place = (struct place){
        .reg = operand->mem.base, .in_memory = true, .displacement = operand->mem.disp.value};
    return true;
}

static bool is_move(const struct instruction *instruction)
{
    return instruction_is_copy(instruction) || instruction->info.mnemonic == ZYDIS_MNEMONIC_MOV ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

/* Whether one of the instructions right before `walk` copies between the operand and the place. */
static bool copied_before(struct backward walk, const ZydisDecodedOperand *operand,
                          const struct place *place)
{
    struct place compared;
    if (!place_of(operand, &compared))
        return false;
    struct instruction instruction;
    for (unsigned i = 0; i < 3 && backward_step(&walk, &instruction); i++) {
        const ZydisDecodedOperand *operands = instruction.operands;
        if (is_move(&instruction) &&
            ((is_place(&operands[0], place) && is_place(&operands[1], &compared)) ||
             (is_place(&operands[1], place) && is_place(&operands[0], &compared))))
            return true;
    }
    return false;
}

/* The number of values of an index that has passed a branch after a comparison with `limit`. */
static uint32_t values_below(ZydisMnemonic branch, bool taken, uint64_t limit)
{
    bool limit_passes;
    if (branch == (taken ? ZYDIS_MNEMONIC_JBE : ZYDIS_MNEMONIC_JNBE))
        limit_passes = true;
    else if (branch == (taken ? ZYDIS_MNEMONIC_JB : ZYDIS_MNEMONIC_JNB))
        limit_passes = false;
    else
        return NO_BOUND;
    return limit < MAX_ENTRIES ? (uint32_t)limit + limit_passes : NO_BOUND;
}

/* Goes on from a place to where its value came from; false when it was computed. */
static bool follow(const struct instruction *instruction, struct place *place, uint32_t *bound)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    switch (instruction->info.mnemonic) {
    case ZYDIS_MNEMONIC_CDQE: return true;
    case ZYDIS_MNEMONIC_AND:
        if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            operands[1].imm.value.u < MAX_ENTRIES)
            *bound = (uint32_t)operands[1].imm.value.u + 1;
        return false;
    case ZYDIS_MNEMONIC_LEA: {
        /* INDEX * 4 or INDEX * 8, computed before the load */
        const ZydisDecodedOperandMem *memory = &operands[1].mem;
        bool scales = memory->base == ZYDIS_REGISTER_NONE && memory->index != ZYDIS_REGISTER_NONE &&
                      memory->disp.value == 0;
        if (scales)
            *place = (struct place){.reg = whole_register(memory->index)};
        return scales;
    }
    default: return is_move(instruction) && place_of(&operands[1], place);
    }
}

uint32_t find_jump_bound(const struct decoded *decoded, uint32_t load, ZydisRegister index)
{
    if (index == ZYDIS_REGISTER_NONE)
        return NO_BOUND;
    struct backward walk = backward_from(decoded, load);
    struct place place = {.reg = whole_register(index)};
    struct instruction instruction;
    ZydisMnemonic branch = ZYDIS_MNEMONIC_INVALID;
    bool taken = false;
    uint32_t bound = NO_BOUND;
    while (backward_step(&walk, &instruction)) {
        const ZydisDecodedOperand *operands = instruction.operands;
        ZydisMnemonic mnemonic = instruction.info.mnemonic;
        bool compares = (mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_SUB) &&
                        operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        if (instruction.info.meta.category == ZYDIS_CATEGORY_COND_BR) {
            branch = mnemonic;
            taken = walk.jumped;
        } else if (compares && branch != ZYDIS_MNEMONIC_INVALID &&
                   (is_place(&operands[0], &place) || copied_before(walk, &operands[0], &place))) {
            return values_below(branch, taken, operands[1].imm.value.u);
        } else if (place.in_memory ? is_place(&operands[0], &place) && is_move(&instruction)
                                   : instruction_writes(&instruction, place.reg)) {
            if (!follow(&instruction, &place, &bound))
                return bound;
        }
    }
    return NO_BOUND;
}
