#include "hpcrun/unwind/code-walk.h"

#include "hpcrun/unwind/instruction.h"
#include "hpcrun/unwind/memory.h"

#include <string.h>

enum { RSP = 4, RBP = 5, NO_REGISTER = 16 };

/* Values of fields of an instruction: the operand is a register; no index register. */
enum { REGISTER = 3, NO_INDEX = 4 };

#define MAX_OFFSET (1 << 20)
#define PAGE       4096u

/* ---- values ---- */

static const struct value unknown = {VALUE_UNKNOWN, 0, 0};

static struct value plus(struct value value, int64_t offset)
{
    bool is_word = value.kind == VALUE_AT_SP || value.kind == VALUE_AT_BP;
    int32_t *place = is_word ? &value.added : &value.offset;
    int64_t sum = *place + offset;
    bool is_fixed = value.kind == VALUE_AT_AT_SP || value.kind == VALUE_AT_SAVED;
    if (sum <= -MAX_OFFSET || sum >= MAX_OFFSET || is_fixed)
        return unknown;
    *place = (int32_t)sum;
    return value;
}

/* The word at an address. */
static struct value load(const struct code_state *state, struct value address)
{
    if (value_is_same(address, state->bp_saved))
        return (struct value){VALUE_BP, 0, 0};
    switch (address.kind) {
    case VALUE_SP: return (struct value){VALUE_AT_SP, address.offset, 0};
    case VALUE_BP: return (struct value){VALUE_AT_BP, address.offset, 0};
    case VALUE_AT_SP: return (struct value){VALUE_AT_AT_SP, address.offset, address.added};
    case VALUE_SAVED: return (struct value){VALUE_AT_SAVED, address.offset, 0};
    default: return unknown;
    }
}

static void store_bp(struct code_state *state, struct value address)
{
    if (value_is_bp(state->bp))
        state->bp_saved = address;
}

/* The address of an operand, if it is relative to rsp or rbp. */
static struct value operand_address(const struct code_state *state, const struct instruction *i)
{
    if (i->mod == REGISTER || i->rip_relative || i->no_base || i->index != NO_INDEX)
        return unknown;
    return i->base == RSP   ? plus(state->sp, i->displacement)
           : i->base == RBP ? plus(state->bp, i->displacement)
                            : unknown;
}

static struct value register_value(const struct code_state *state, unsigned number)
{
    return number == RSP ? state->sp : number == RBP ? state->bp : unknown;
}

/* ---- effects of instructions ---- */

static void set_register(struct code_state *state, unsigned number, struct value value)
{
    if (number == RSP) {
        state->sp = value;
        state->pushed = 0;
    }
    if (number == RBP)
        state->bp = value;
}

/* rsp = register + distance: a copy of rsp from before the start. */
static void take_sp(struct code_state *state, unsigned number, int32_t distance)
{
    state->pushed = 0;
    state->sp = state->saved_sp ? unknown : (struct value){VALUE_SAVED, distance, 0};
    state->saved_sp = (uint8_t)(number + 1);
}

static void move(struct code_state *state, unsigned to, unsigned from)
{
    bool is_tracked = from == RSP || from == RBP;
    if (to == RSP && !is_tracked)
        take_sp(state, from, 0);
    else
        set_register(state, to, register_value(state, from));
}

static void push(struct code_state *state, unsigned number)
{
    bool is_return = state->pushed && state->pushed == state->popped + 1;
    state->below = is_return ? state->popped_at : state->sp;
    state->sp = plus(state->sp, -8);
    if (number == RBP)
        store_bp(state, state->sp);
    state->pushed = (uint8_t)(number + 1);
}

static void pop(struct code_state *state, unsigned number)
{
    struct value place = state->sp;
    state->sp = plus(state->sp, 8);
    set_register(state, number, load(state, place));
    state->popped = (uint8_t)number;
    state->popped_at = place;
    state->pushed = 0;
}

/* An operation with an immediate (80 to 83). */
static void calculate(struct code_state *state, const struct instruction *i)
{
    enum { ADD = 0, SUB = 5, CMP = 7 };
    if (i->mod != REGISTER || i->rm != RSP || i->reg == CMP)
        return;
    state->pushed = 0;
    state->sp = i->reg == ADD && i->wide   ? plus(state->sp, i->immediate)
                : i->reg == SUB && i->wide ? plus(state->sp, -i->immediate)
                                           : unknown;
}

static void load_address(struct code_state *state, const struct instruction *i)
{
    bool is_saved = i->reg == RSP && i->base != RSP && i->base != RBP && i->index == NO_INDEX &&
                    !i->rip_relative;
    if (is_saved)
        take_sp(state, i->base, i->displacement);
    else
        set_register(state, i->reg, operand_address(state, i));
    if (i->rip_relative)
        state->table = state->pc + (uint64_t)(int64_t)i->displacement;
}

static void leave(struct code_state *state)
{
    state->sp = state->bp;
    pop(state, RBP);
}

/* Whether a one-byte opcode other than those in `follow` writes to rsp. */
static bool writes_sp(const struct instruction *i)
{
    uint8_t group = i->opcode & 0xc7;
    bool to_rm = i->mod == REGISTER && i->rm == RSP, to_reg = i->reg == RSP;
    if (group == 0x01 && i->opcode < 0x38)
        return to_rm;
    if (group == 0x03 && i->opcode < 0x38)
        return to_reg;
    switch (i->opcode) {
    case 0x63:
    case 0x69:
    case 0x6b: return to_reg;
    case 0x87: return to_rm || to_reg;
    case 0xc1:
    case 0xc7:
    case 0xd1:
    case 0xd3: return to_rm;
    case 0x94: return i->rm == RSP;
    default: return false;
    }
}

/* The effect of an instruction that is no jump. */
static void apply(struct code_state *state, const struct instruction *i)
{
    switch (i->opcode) {
    case 0x50 ... 0x57: push(state, i->rm); break;
    case 0x58 ... 0x5f: pop(state, i->rm); break;
    case 0x68:
    case 0x6a:
    case 0x9c: push(state, NO_REGISTER); break;
    case 0x8f:
    case 0x9d: pop(state, NO_REGISTER); break;
    case 0xff:
        if (i->reg == 6)
            push(state, NO_REGISTER);
        break;
    case 0x81:
    case 0x83: calculate(state, i); break;
    case 0x89:
        if (i->mod == REGISTER)
            move(state, i->rm, i->reg);
        else if (i->reg == RBP && i->wide)
            store_bp(state, operand_address(state, i));
        break;
    case 0x8b:
        if (i->mod == REGISTER)
            move(state, i->reg, i->rm);
        else
            set_register(state, i->reg, load(state, operand_address(state, i)));
        break;
    case 0x8d: load_address(state, i); break;
    case 0xc9: leave(state); break;
    default:
        if (writes_sp(i))
            state->sp = unknown;
    }
}

/* ---- following jumps ---- */

/* Whether the walk was at `pc` before. */
static bool was_at(const struct code_walk *walk, uint64_t pc)
{
    for (unsigned i = 0; i < walk->segment_count; i++)
        if (pc >= walk->segments[i].first && pc < walk->segments[i].end)
            return true;
    return pc >= walk->segment_first && pc < walk->state.pc;
}

static void add_way(struct code_walk *walk, uint64_t target)
{
    bool is_known = was_at(walk, target);
    for (unsigned i = 0; i < walk->way_count && !is_known; i++)
        is_known = walk->ways[i].pc == target;
    if (is_known)
        return;
    if (walk->way_count == CODE_WAYS) {
        walk->may_return = true;
        return;
    }
    struct code_state *way = &walk->ways[walk->way_count++];
    *way = walk->state;
    way->pc = target;
}

/* A segment goes up to code where the walk was before. */
static void begin_segment(struct code_walk *walk)
{
    walk->segment_first = walk->state.pc;
    walk->segment_limit = UINT64_MAX;
    for (unsigned i = 0; i < walk->segment_count; i++) {
        uint64_t first = walk->segments[i].first;
        if (first >= walk->state.pc && first < walk->segment_limit)
            walk->segment_limit = first;
    }
}

static void end_segment(struct code_walk *walk)
{
    if (walk->segment_count < CODE_SEGMENTS && walk->state.pc > walk->segment_first)
        walk->segments[walk->segment_count++] =
            (struct code_segment){walk->segment_first, walk->state.pc};
    walk->segment_first = walk->state.pc;
}

static void begin_run(struct code_walk *walk)
{
    walk->state.run_first = walk->state.pc;
    walk->state.run_last = walk->state.pc;
}

/* Adds the run that ends, in which sp, bp and bp_saved had these values. */
static void end_run(struct code_walk *walk, struct value sp, struct value bp, struct value bp_saved)
{
    struct code_state *state = &walk->state;
    if (sp.kind == VALUE_SP && value_is_bp(bp) && walk->run_count < CODE_RUNS) {
        walk->runs[walk->run_count++] = (struct code_run){state->run_first, state->run_last,
                                                          bp_saved, sp.offset, state->run_before};
        state->run_before = (uint8_t)walk->run_count;
    }
}

void code_walk_end_run(struct code_walk *walk)
{
    end_run(walk, walk->state.sp, walk->state.bp, walk->state.bp_saved);
}

static void apply_in_run(struct code_walk *walk, const struct instruction *i)
{
    const struct code_state *state = &walk->state;
    struct value sp = state->sp, bp = state->bp, bp_saved = state->bp_saved;
    bool pushed_bp = state->pushed == RBP + 1 && value_is_bp(bp);
    apply(&walk->state, i);
    if (pushed_bp && value_is_same(state->bp, state->sp) && walk->entry.kind == VALUE_UNKNOWN)
        walk->entry = state->below;
    if (memcmp(&sp, &state->sp, sizeof sp) != 0 || memcmp(&bp, &state->bp, sizeof bp) != 0 ||
        memcmp(&bp_saved, &state->bp_saved, sizeof bp_saved) != 0) {
        end_run(walk, sp, bp, bp_saved);
        begin_run(walk);
    }
}

/* Takes the jump with the lowest target: unlikely code lies after the rest. */
static bool take_lowest(struct code_walk *walk)
{
    unsigned lowest = 0;
    if (walk->way_count == 0)
        return false;
    for (unsigned i = 1; i < walk->way_count; i++)
        if (walk->ways[i].pc < walk->ways[lowest].pc)
            lowest = i;
    walk->state = walk->ways[lowest];
    walk->ways[lowest] = walk->ways[--walk->way_count];
    return true;
}

bool code_walk_other_way(struct code_walk *walk)
{
    end_segment(walk);
    do {
        if (!take_lowest(walk))
            return false;
        walk->segment_first = walk->state.pc;
    } while (was_at(walk, walk->state.pc));
    code_walk_end_run(walk);
    begin_run(walk);
    begin_segment(walk);
    return true;
}

static void note_return(struct code_walk *walk)
{
    walk->may_return = true;
    walk->callers_bp |= value_is_bp(walk->state.bp);
}

/* A return. A return address that was popped and pushed again is where it was popped. If another
 * register was pushed last, this is a jump. */
static enum code_next go_back(struct code_walk *walk)
{
    const struct code_state *state = &walk->state;
    note_return(walk);
    bool is_jump = state->pushed && state->pushed != state->popped + 1;
    walk->place = !state->pushed ? state->sp : is_jump ? plus(state->sp, 8) : state->popped_at;
    return is_jump ? CODE_MAY_RETURN : CODE_RETURNS;
}

/* The way to the first target of a jump table, whose entries are relative to it. The other targets
 * have the same stack. */
static void add_table_way(struct memory *memory, struct code_walk *walk)
{
    int32_t entry;
    if (walk->state.table && memory_read_searched(memory, walk->state.table, &entry, sizeof entry))
        add_way(walk, walk->state.table + (uint64_t)(int64_t)entry);
}

/* An indirect jump: to a return address that was popped, to another function, or within this one.
 */
static enum code_next jump_indirectly(struct memory *memory, struct code_walk *walk,
                                      const struct instruction *i)
{
    bool by_register = i->mod == REGISTER, is_popped = by_register && i->rm == walk->state.popped;
    walk->place = is_popped ? walk->state.popped_at : walk->state.sp;
    if (by_register || i->rip_relative)
        note_return(walk);
    if (is_popped || i->rip_relative)
        return CODE_RETURNS;
    walk->may_return = true;
    add_table_way(memory, walk);
    return by_register || i->index == NO_INDEX ? CODE_MAY_RETURN : CODE_ENDS;
}

static enum code_next jump(struct code_walk *walk, uint64_t target)
{
    end_segment(walk);
    if (was_at(walk, target))
        return CODE_ENDS;
    code_walk_end_run(walk);
    walk->state.pc = target;
    begin_run(walk);
    begin_segment(walk);
    return CODE_GOES_ON;
}

/* Two bytes of zero would be add %al, (%rax). They are no code. */
static bool is_zeros(const struct instruction *i)
{
    return i->mod == 0 && i->reg == 0 && i->rm == 0;
}

static enum code_next follow_one_byte(struct memory *memory, struct code_walk *walk,
                                      const struct instruction *i)
{
    uint64_t target = walk->state.pc + (uint64_t)i->immediate;
    switch (i->opcode) {
    case 0x70 ... 0x7f:
    case 0xe0 ... 0xe3: add_way(walk, target); return CODE_GOES_ON;
    case 0xe9:
    case 0xeb: return jump(walk, target);
    case 0xc2:
    case 0xc3: return go_back(walk);
    case 0xff:
        if (i->reg == 4)
            return jump_indirectly(memory, walk, i);
        break;
    case 0x00: return is_zeros(i) ? CODE_ENDS : CODE_GOES_ON;
    case 0xca ... 0xcc:
    case 0xcf:
    case 0xf4: return CODE_ENDS;
    default: break;
    }
    apply_in_run(walk, i);
    return CODE_GOES_ON;
}

/* Takes the instruction that ends at the state's pc. */
static enum code_next follow(struct memory *memory, struct code_walk *walk,
                             const struct instruction *i)
{
    bool by_bp = i->mod != REGISTER && i->base == RBP && !i->rip_relative && !i->no_base;
    if (by_bp && i->displacement < 0 && value_is_bp(walk->state.bp))
        walk->uses_frame = true;
    if (i->map == MAP_ONE_BYTE) {
        enum code_next next = follow_one_byte(memory, walk, i);
        walk->callers_bp |= walk->state.bp_saved.kind != VALUE_UNKNOWN;
        return next;
    }
    bool is_0f = i->map == MAP_0F;
    if (is_0f && (i->opcode == 0x0b || i->opcode == 0xb9 || i->opcode == 0xff)) /* ud2 ... */
        return CODE_ENDS;
    if (is_0f && i->opcode >> 4 == 8)
        add_way(walk, walk->state.pc + (uint64_t)i->immediate);
    return CODE_GOES_ON;
}

/* ---- reading code ---- */

/* Reads the code from pc on into the window: as much of it as can be read, which may be only what
 * lies in pc's page. */
static bool read_window(struct memory *memory, struct code_walk *walk, uint64_t pc)
{
    uint64_t in_page = PAGE - pc % PAGE;
    walk->window_start = pc;
    walk->window_size = CODE_WINDOW;
    if (memory_read_searched(memory, pc, walk->window, CODE_WINDOW))
        return true;
    bool can_read =
        in_page < CODE_WINDOW && memory_read_searched(memory, pc, walk->window, in_page);
    walk->window_size = can_read ? (unsigned)in_page : 0;
    return can_read;
}

/* Decodes the instruction at state.pc and moves state.pc to its end. */
static bool next_instruction(struct memory *memory, struct code_walk *walk, struct instruction *i)
{
    if (code_walk_needs_code(walk) && !read_window(memory, walk, walk->state.pc))
        return false;
    uint64_t from = walk->state.pc - walk->window_start;
    if (!instruction_decode(walk->window + from, walk->window_size - from, i))
        return false;
    walk->state.pc += i->length;
    walk->state.run_last = walk->state.pc - 1;
    return true;
}

/* ---- the walk ---- */

void code_walk_begin(struct code_walk *walk, uint64_t pc)
{
    walk->state = (struct code_state){
        .pc = pc, .sp = {VALUE_SP, 0, 0}, .bp = {VALUE_BP, 0, 0}, .popped = NO_REGISTER};
    walk->way_count = walk->segment_count = walk->window_size = walk->run_count = 0;
    walk->uses_frame = walk->callers_bp = walk->may_return = false;
    walk->joined = 0;
    walk->entry = unknown;
    walk->gap = (struct code_segment){0, 0};
    begin_run(walk);
    begin_segment(walk);
}

enum code_next code_walk_step(struct memory *memory, struct code_walk *walk)
{
    struct instruction i;
    if (walk->state.pc >= walk->segment_limit || walk->state.pc == walk->gap.end)
        return CODE_ENDS;
    if (next_instruction(memory, walk, &i))
        return follow(memory, walk, &i);
    walk->may_return = true;
    return CODE_ENDS;
}
