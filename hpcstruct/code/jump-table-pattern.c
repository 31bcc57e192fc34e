#include "hpcstruct/code/jump-table-pattern.h"

/* ---- locations ---- */

/* The location of a value: a register, or memory at a register plus displacement. */
struct location {
    ZydisRegister reg;
    bool in_memory;
    int64_t displacement;
};

static bool is_location(const ZydisDecodedOperand *operand, const struct location *location)
{
    if (!location->in_memory)
        return operand_is_register(operand, location->reg);
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->mem.index == ZYDIS_REGISTER_NONE && operand->mem.base == location->reg &&
           operand->mem.disp.value == location->displacement;
}

static bool location_of(const ZydisDecodedOperand *operand, struct location *location)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        *location = (struct location){.reg = whole_register(operand->reg.value)};
        return true;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base == ZYDIS_REGISTER_RIP ||
        operand->mem.index != ZYDIS_REGISTER_NONE)
        return false;
    *location = (struct location){
        .reg = operand->mem.base, .in_memory = true, .displacement = operand->mem.disp.value};
    return true;
}

/* ---- the load of an entry ---- */

static bool is_load(const struct instruction *instruction, ZydisMnemonic mnemonic, unsigned bits)
{
    return instruction->info.mnemonic == mnemonic &&
           instruction->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           instruction->operands[1].size == bits;
}

/* Finds the load of a 32-bit entry. The target is the sum of two registers, one of them loaded from
 * the table; `other` is ZYDIS_REGISTER_NONE if it is in memory. */
static bool find_relative_load(const struct decoded_fragment *decoded, struct backward_slice slice,
                               ZydisRegister one, ZydisRegister other, struct entry_load *load)
{
    ZydisRegister sources[2] = {one, other};
    bool constant[2] = {false, other == ZYDIS_REGISTER_NONE};
    struct instruction instruction;
    while (slice_step(&slice, &instruction)) {
        for (unsigned i = 0; i < 2; i++) {
            if (constant[i] || !instruction_writes(&instruction, sources[i]))
                continue;
            if (is_load(&instruction, ZYDIS_MNEMONIC_MOVSXD, 32) ||
                is_load(&instruction, ZYDIS_MNEMONIC_MOV, 32)) {
                load->index = instruction.index;
                load->entry_size = 4;
                load->memory = instruction.operands[1].mem;
                load->base = constant[!i] ? ZYDIS_REGISTER_NONE : sources[!i];
                if (!constant[!i] &&
                    register_constant(decoded, instruction.index, sources[!i], &load->base_value))
                    load->base_known = true;
                return true;
            }
            if (instruction.info.mnemonic == ZYDIS_MNEMONIC_CDQE)
                continue;
            if (instruction_is_copy(&instruction))
                sources[i] = whole_register(instruction.operands[1].reg.value);
            else if (instruction_constant(decoded, &instruction, &load->base_value))
                constant[i] = load->base_known = true;
            else if (is_load(&instruction, ZYDIS_MNEMONIC_MOV, 64))
                constant[i] = true; /* the address of the table is in memory */
            else
                return false;
            break;
        }
    }
    return false;
}

/* An entry whose address is computed: add $TABLE, R; mov (R), R. */
static bool find_added_address(struct backward_slice slice, struct entry_load *load)
{
    struct instruction instruction;
    if (load->memory.base == ZYDIS_REGISTER_NONE || !slice_step(&slice, &instruction) ||
        instruction.info.mnemonic != ZYDIS_MNEMONIC_ADD ||
        !operand_is_register(&instruction.operands[0], load->memory.base) ||
        instruction.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    load->base_known = true;
    load->base_value = instruction.operands[1].imm.value.u;
    return true;
}

/* Whether an instruction is lea (ONE,OTHER), REGISTER. */
static bool is_sum_of_registers(const struct instruction *instruction)
{
    const ZydisDecodedOperandMem *sum = &instruction->operands[1].mem;
    return instruction->info.mnemonic == ZYDIS_MNEMONIC_LEA && sum->base != ZYDIS_REGISTER_NONE &&
           sum->index != ZYDIS_REGISTER_NONE && sum->scale == 1 && sum->disp.value == 0;
}

/* Goes back from the load of a value on the stack to its store. Sets *r to the register that was
 * stored. clang makes one indirect jump of all computed gotos of a function; without optimization,
 * each of them leaves its target on the stack: mov R, SLOT; jmp X ... X: mov SLOT, R; jmp *R. */
static bool find_store(struct backward_slice *slice, const ZydisDecodedOperand *loaded,
                       ZydisRegister *r)
{
    struct location slot;
    struct instruction instruction;
    if (!location_of(loaded, &slot) ||
        (slot.reg != ZYDIS_REGISTER_RBP && slot.reg != ZYDIS_REGISTER_RSP))
        return false;
    while (slice_step(slice, &instruction) && !instruction_writes(&instruction, slot.reg)) {
        const ZydisDecodedOperand *operands = instruction.operands;
        if (instruction.info.mnemonic != ZYDIS_MNEMONIC_MOV || !is_location(&operands[0], &slot))
            continue;
        *r = whole_register(operands[1].reg.value);
        return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    }
    return false;
}

/* Finds the load of the entry that ends up in the target register of a jump. */
static bool find_load_to(const struct decoded_fragment *decoded, uint32_t jump,
                         ZydisRegister target, struct entry_load *load)
{
    struct backward_slice slice = slice_from(decoded, jump);
    struct instruction instruction;
    while (slice_step(&slice, &instruction)) {
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
            if (load->memory.index != ZYDIS_REGISTER_NONE || find_added_address(slice, load))
                return true;
            if (!find_store(&slice, &operands[1], &target))
                return false;
            continue;
        }
        if (instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD &&
            operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            return find_relative_load(decoded, slice, target, whole_register(operands[1].reg.value),
                                      load);
        if (instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD &&
            operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return find_relative_load(decoded, slice, target, ZYDIS_REGISTER_NONE, load);
        if (is_sum_of_registers(&instruction))
            return find_relative_load(decoded, slice, operands[1].mem.base, operands[1].mem.index,
                                      load);
        return false;
    }
    return false;
}

bool find_entry_load(const struct decoded_fragment *decoded, uint32_t jump, struct entry_load *load)
{
    struct instruction instruction;
    *load = (struct entry_load){.base = ZYDIS_REGISTER_NONE};
    if (!instruction_decode(decoded, jump, &instruction))
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

/* ---- the bound ---- */

static bool is_move(const struct instruction *instruction)
{
    return instruction_is_copy(instruction) || instruction->info.mnemonic == ZYDIS_MNEMONIC_MOV ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
           instruction->info.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

/* Whether one of the three instructions before `slice` copies between an operand and a location. */
static bool copied_before(struct backward_slice slice, const ZydisDecodedOperand *operand,
                          const struct location *location)
{
    struct location compared;
    if (!location_of(operand, &compared))
        return false;
    struct instruction instruction;
    for (unsigned i = 0; i < 3 && slice_step(&slice, &instruction); i++) {
        const ZydisDecodedOperand *operands = instruction.operands;
        if (is_move(&instruction) &&
            ((is_location(&operands[0], location) && is_location(&operands[1], &compared)) ||
             (is_location(&operands[1], location) && is_location(&operands[0], &compared))))
            return true;
    }
    return false;
}

/* The number of values that an index can have after a comparison with `limit` and this branch. */
static uint32_t values_below(ZydisMnemonic branch, bool taken, uint64_t limit)
{
    bool limit_passes; /* whether the index may equal the limit */
    if (branch == (taken ? ZYDIS_MNEMONIC_JBE : ZYDIS_MNEMONIC_JNBE))
        limit_passes = true;
    else if (branch == (taken ? ZYDIS_MNEMONIC_JB : ZYDIS_MNEMONIC_JNB))
        limit_passes = false;
    else
        return NO_BOUND;
    return limit < MAX_ENTRIES ? (uint32_t)limit + limit_passes : NO_BOUND;
}

/* Moves `location` to where an instruction took its value from. False if it computed the value;
 * *bound is then set if it did so by a mask. */
static bool trace_back(const struct instruction *instruction, struct location *location,
                       uint32_t *bound)
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
            *location = (struct location){.reg = whole_register(memory->index)};
        return scales;
    }
    default: return is_move(instruction) && location_of(&operands[1], location);
    }
}

uint32_t find_index_bound(const struct decoded_fragment *decoded, uint32_t load,
                          ZydisRegister index)
{
    if (index == ZYDIS_REGISTER_NONE)
        return NO_BOUND;
    struct backward_slice slice = slice_from(decoded, load);
    struct location location = {.reg = whole_register(index)};
    struct instruction instruction;
    ZydisMnemonic branch = ZYDIS_MNEMONIC_INVALID;
    bool taken = false;
    uint32_t bound = NO_BOUND;
    while (slice_step(&slice, &instruction)) {
        const ZydisDecodedOperand *operands = instruction.operands;
        ZydisMnemonic mnemonic = instruction.info.mnemonic;
        bool compares = (mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_SUB) &&
                        operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        if (instruction.info.meta.category == ZYDIS_CATEGORY_COND_BR) {
            branch = mnemonic;
            taken = slice.jumped;
        } else if (compares && branch != ZYDIS_MNEMONIC_INVALID &&
                   (is_location(&operands[0], &location) ||
                    copied_before(slice, &operands[0], &location))) {
            return values_below(branch, taken, operands[1].imm.value.u);
        } else if (location.in_memory
                       ? is_location(&operands[0], &location) && is_move(&instruction)
                       : instruction_writes(&instruction, location.reg)) {
            if (!trace_back(&instruction, &location, &bound))
                return bound;
        }
    }
    return NO_BOUND;
}
