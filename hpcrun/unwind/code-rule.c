#include "hpcrun/unwind/code-rule.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/instruction.h"
#include "hpcrun/unwind/return-address.h"

#include <string.h>

enum { RSP = 4, RBP = 5, NO_REGISTER = 16 };

/* Values of fields of an instruction: the operand is a register; no index register. */
enum { REGISTER = 3, NO_INDEX = 4 };

#define MAX_STEPS  2000
#define MAX_OFFSET (1 << 20)
#define PAGE       4096u

/* ---- values ---- */

static struct value plus(struct value value, int64_t offset)
{
    int64_t sum = value.offset + offset;
    bool fits = sum > -MAX_OFFSET && sum < MAX_OFFSET;
    if (!fits || (value.kind != VALUE_SP && value.kind != VALUE_BP))
        return (struct value){VALUE_UNKNOWN, 0};
    return (struct value){value.kind, (int32_t)sum};
}

static bool is_same(struct value a, struct value b)
{
    return a.kind == b.kind && a.offset == b.offset && a.kind != VALUE_UNKNOWN;
}

/* The word at an address. */
static struct value load(const struct code_state *state, struct value address)
{
    if (is_same(address, state->bp_saved))
        return (struct value){VALUE_BP, 0};
    enum value_kind kind = address.kind == VALUE_SP   ? VALUE_AT_SP
                           : address.kind == VALUE_BP ? VALUE_AT_BP
                                                      : VALUE_UNKNOWN;
    return (struct value){kind, address.offset};
}

static void store_bp(struct code_state *state, struct value address)
{
    if (is_same(state->bp, (struct value){VALUE_BP, 0}))
        state->bp_saved = address;
}

/* The address of an operand, if it is relative to rsp or rbp. */
static struct value operand_address(const struct code_state *state, const struct instruction *i)
{
    if (i->mod == REGISTER || i->rip_relative || i->index != NO_INDEX)
        return (struct value){VALUE_UNKNOWN, 0};
    return i->base == RSP   ? plus(state->sp, i->displacement)
           : i->base == RBP ? plus(state->bp, i->displacement)
                            : (struct value){VALUE_UNKNOWN, 0};
}

static struct value register_value(const struct code_state *state, unsigned number)
{
    return number == RSP ? state->sp : number == RBP ? state->bp : (struct value){VALUE_UNKNOWN, 0};
}

/* The value of a register or memory operand. */
static struct value operand(const struct code_state *state, const struct instruction *i)
{
    return i->mod == REGISTER ? register_value(state, i->rm)
                              : load(state, operand_address(state, i));
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

static void push(struct code_state *state, unsigned number)
{
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
                                           : (struct value){VALUE_UNKNOWN, 0};
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
    if (i->map != MAP_ONE_BYTE)
        return;
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
            set_register(state, i->rm, register_value(state, i->reg));
        else if (i->reg == RBP && i->wide)
            store_bp(state, operand_address(state, i));
        break;
    case 0x8b: set_register(state, i->reg, operand(state, i)); break;
    case 0x8d: set_register(state, i->reg, operand_address(state, i)); break;
    case 0xc9: leave(state); break;
    default:
        if (writes_sp(i))
            state->sp = (struct value){VALUE_UNKNOWN, 0};
    }
}

/* ---- following jumps ---- */

/* Whether a jump to this target is new on the ways so far. */
static bool is_new(struct code_walk *walk, uint64_t target)
{
    for (unsigned i = 0; i < walk->target_count; i++)
        if (walk->targets[i] == target)
            return false;
    if (walk->target_count == CODE_TARGETS)
        return false;
    walk->targets[walk->target_count++] = target;
    return true;
}

static void add_way(struct code_walk *walk, uint64_t target)
{
    if (walk->way_count == CODE_WAYS || !is_new(walk, target))
        return;
    struct code_state *way = &walk->ways[walk->way_count++];
    *way = walk->state;
    way->pc = target;
}

/* Goes on at the jump with the lowest target: unlikely code lies behind the rest. */
static bool take_way(struct code_walk *walk)
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

/* ---- results ---- */

/* The rule if the return address is at `place` when the code is in this state. */
static struct rule rule_of(const struct code_state *state, struct value place)
{
    struct rule rule = {.kind = RULE_NONE, .cfa_offset = place.offset + 8, .bp = BP_SAME};
    int32_t to_cfa = state->bp.offset - rule.cfa_offset;
    bool by_sp = place.kind == VALUE_SP, by_bp = place.kind == VALUE_BP;
    if (place.offset < 0 || !(by_sp || by_bp))
        return rule;
    if (state->bp.kind == (by_sp ? VALUE_AT_SP : VALUE_AT_BP)) {
        rule.bp = BP_AT_CFA;
        rule.bp_offset = to_cfa;
    } else if (state->bp.kind == VALUE_AT_BP) {
        rule.bp = BP_AT_BP;
        rule.bp_offset = state->bp.offset;
    } else if (!is_same(state->bp, (struct value){VALUE_BP, 0})) {
        return rule;
    }
    rule.kind = by_sp ? RULE_CFA_SP : RULE_CFA_BP;
    return rule;
}

/* What to do after an instruction. */
enum next { NEXT_GO_ON, NEXT_OTHER_WAY, NEXT_RETURNS, NEXT_MAY_RETURN };

/* A return. A return address that was popped and pushed again is where it was popped. If another
 * register was pushed last, this is a jump. */
static enum next go_back(const struct code_state *state, struct rule *rule)
{
    bool is_jump = state->pushed && state->pushed != state->popped + 1;
    struct value place = !state->pushed ? state->sp
                         : is_jump      ? plus(state->sp, 8)
                                        : state->popped_at;
    *rule = rule_of(state, place);
    return is_jump ? NEXT_MAY_RETURN : NEXT_RETURNS;
}

/* An indirect jump: to a return address that was popped, to another function, or within this one.
 */
static enum next jump_indirectly(const struct code_state *state, const struct instruction *i,
                                 struct rule *rule)
{
    bool to_popped = i->mod == REGISTER && i->rm == state->popped;
    *rule = rule_of(state, to_popped ? state->popped_at : state->sp);
    if (to_popped || i->rip_relative)
        return NEXT_RETURNS;
    return i->mod == REGISTER ? NEXT_MAY_RETURN : NEXT_OTHER_WAY;
}

static enum next jump(struct code_walk *walk, uint64_t target)
{
    walk->state.pc = target;
    return is_new(walk, target) ? NEXT_GO_ON : NEXT_OTHER_WAY;
}

static enum next follow_one_byte(struct code_walk *walk, const struct instruction *i,
                                 struct rule *rule)
{
    uint64_t target = walk->state.pc + (uint64_t)i->immediate;
    switch (i->opcode) {
    case 0x70 ... 0x7f:
    case 0xe0 ... 0xe3: add_way(walk, target); return NEXT_GO_ON;
    case 0xe9:
    case 0xeb: return jump(walk, target);
    case 0xc2:
    case 0xc3: return go_back(&walk->state, rule);
    case 0xff:
        if (i->reg == 4)
            return jump_indirectly(&walk->state, i, rule);
        break;
    case 0x00: /* zeros are no code */
    case 0xca ... 0xcc:
    case 0xcf:
    case 0xf4: return NEXT_OTHER_WAY;
    default: break;
    }
    apply(&walk->state, i);
    return NEXT_GO_ON;
}

/* Takes the instruction behind which the state's pc is. */
static enum next follow(struct code_walk *walk, const struct instruction *i, struct rule *rule)
{
    if (i->mod != REGISTER && i->base == RBP && i->displacement < 0 && !i->rip_relative &&
        is_same(walk->state.bp, (struct value){VALUE_BP, 0}))
        walk->uses_frame = true;
    if (i->map == MAP_ONE_BYTE) {
        enum next next = follow_one_byte(walk, i, rule);
        walk->callers_bp |= walk->state.bp_saved.kind != VALUE_UNKNOWN;
        return next;
    }
    bool is_0f = i->map == MAP_0F;
    if (is_0f && (i->opcode == 0x0b || i->opcode == 0xb9 || i->opcode == 0xff)) /* ud2 ... */
        return NEXT_OTHER_WAY;
    if (is_0f && i->opcode >> 4 == 8)
        add_way(walk, walk->state.pc + (uint64_t)i->immediate);
    return NEXT_GO_ON;
}

/* ---- reading code ---- */

/* Reads the code from pc on into the window: as much of it as can be read, which may be only what
 * lies in pc's page. */
static bool read_window(struct memory *memory, struct code_walk *walk, uint64_t pc)
{
    uint64_t in_page = PAGE - pc % PAGE;
    walk->window_start = pc;
    walk->window_size = CODE_WINDOW;
    if (memory_read_guarded(memory, pc, walk->window, CODE_WINDOW))
        return true;
    bool can_read = in_page < CODE_WINDOW && memory_read_guarded(memory, pc, walk->window, in_page);
    walk->window_size = can_read ? (unsigned)in_page : 0;
    return can_read;
}

/* Decodes the instruction at state.pc and moves state.pc behind it. */
static bool next_instruction(struct memory *memory, struct code_walk *walk, struct instruction *i)
{
    uint64_t from = walk->state.pc - walk->window_start;
    if (from + INSTRUCTION_MAX_BYTES > walk->window_size) {
        if (!read_window(memory, walk, walk->state.pc))
            return false;
        from = 0;
    }
    if (!instruction_decode(walk->window + from, walk->window_size - from, i))
        return false;
    walk->state.pc += i->length;
    return true;
}

static bool is_right(struct memory *memory, const struct frame *frame, struct rule rule)
{
    uint64_t ra, place = rule.kind == RULE_CFA_BP ? frame->bp : frame->sp;
    if (rule.kind == RULE_NONE || (rule.kind == RULE_CFA_BP && !return_frame_pointer(frame)))
        return false;
    return return_address_at(memory, frame, place + (uint64_t)rule.cfa_offset - 8, &ra);
}

/* Follows the code. Sets *rule and returns true at a return that is right. *uncertain is the
 * rule if an indirect jump leaves the function. */
static bool find_return(struct memory *memory, struct code_walk *walk, const struct frame *frame,
                        struct rule *rule, struct rule *uncertain)
{
    struct instruction i;
    for (unsigned steps = 0; steps < MAX_STEPS && memory_spend(memory, 1); steps++) {
        enum next next = NEXT_OTHER_WAY;
        if (next_instruction(memory, walk, &i))
            next = follow(walk, &i, rule);
        if (next == NEXT_RETURNS && is_right(memory, frame, *rule))
            return true;
        if (next == NEXT_RETURNS || next == NEXT_MAY_RETURN)
            walk->callers_bp |= is_same(walk->state.bp, (struct value){VALUE_BP, 0});
        if (next == NEXT_MAY_RETURN && uncertain->kind == RULE_NONE &&
            is_right(memory, frame, *rule))
            *uncertain = *rule;
        if (next != NEXT_GO_ON && !take_way(walk))
            break;
    }
    return false;
}

static bool walk_from(struct memory *memory, struct code_walk *walk, const struct frame *frame,
                      uint64_t resume, struct rule *rule)
{
    struct rule uncertain = {.kind = RULE_NONE};
    walk->state = (struct code_state){
        .pc = resume, .sp = {VALUE_SP, 0}, .bp = {VALUE_BP, 0}, .popped = NO_REGISTER};
    walk->way_count = walk->target_count = walk->window_size = 0;
    walk->uses_frame = walk->callers_bp = false;
    if (find_return(memory, walk, frame, rule, &uncertain))
        return true;
    *rule = uncertain;
    return uncertain.kind != RULE_NONE && !memory_is_exhausted(memory);
}

/* Learns from a frame that has called another, and so has its frame pointer, if it has one, and
 * whose rule restores the caller's rbp. (Parts of functions that are called within them leave rbp
 * alone.) */
static void note_frame_pointer(struct learned_rules *learned, struct rule rule,
                               const struct frame *frame)
{
    uint64_t cfa = (rule.kind == RULE_CFA_BP ? frame->bp : frame->sp) + (uint64_t)rule.cfa_offset;
    if (rule.bp == BP_AT_CFA)
        learned_note_frame_pointer(learned, frame->pc,
                                   rule.bp_offset == -16 && frame->bp == cfa - 16);
}

/* The code did not give a rule. Code in modules may use rbp for data; compilers at run time do not
 * do so with negative offsets. */
static bool has_frame_pointer(struct rule_cache *cache, const struct frame *frame)
{
    return !cache->walk.callers_bp &&
           (cache->walk.uses_frame || learned_has_frame_pointers(&cache->learned, frame->pc));
}

bool code_rule(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
               bool interrupted, struct rule *rule)
{
    struct module_range module;
    bool in_module = module_range_find(frame->pc, &module);
    if (walk_from(memory, &cache->walk, frame, frame->pc + !interrupted, rule)) {
        if (!in_module && !interrupted)
            note_frame_pointer(&cache->learned, *rule, frame);
        return true;
    }
    *rule = (struct rule){.kind = RULE_CFA_BP, .cfa_offset = 16, .bp = BP_AT_CFA, .bp_offset = -16};
    if (in_module || !has_frame_pointer(cache, frame) || !is_right(memory, frame, *rule) ||
        memory_is_exhausted(memory))
        return false;
    if (cache->walk.uses_frame)
        note_frame_pointer(&cache->learned, *rule, frame);
    return true;
}
