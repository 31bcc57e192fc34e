#include "hpcrun/unwind/code-rule.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/code-walk.h"
#include "hpcrun/unwind/return-address.h"
#include "hpcrun/unwind/saved-sp.h"

#include <string.h>

#define MAX_STEPS 2500
#define MAX_ADDED (8 * (RULE_SLOT_UNIT - 1)) /* bytes */

/* ---- rules ---- */

static const struct rule no_rule = {.kind = RULE_NONE};
static const struct rule frame_pointer_rule = {
    .kind = RULE_CFA_BP, .cfa_offset = 16, .bp = BP_AT_CFA, .bp_offset = -16};

/* The rule for the CFA that the return address at `place` gives. */
static struct rule rule_of_cfa(struct value place)
{
    struct rule rule = {.kind = RULE_NONE, .cfa_offset = place.offset + 8};
    bool is_near = place.added >= 0 && place.added < MAX_ADDED && place.added % 8 == 0;
    if (place.offset < 0 && place.kind != VALUE_SAVED)
        return no_rule;
    if (place.kind == VALUE_SP || place.kind == VALUE_SAVED)
        rule.kind = RULE_CFA_SP;
    if (place.kind == VALUE_BP)
        rule.kind = RULE_CFA_BP;
    if (place.kind == VALUE_AT_SP && is_near) {
        rule.kind = RULE_CFA_AT_SP;
        rule.cfa_offset = place.offset * RULE_SLOT_UNIT + place.added / 8 + 1;
    }
    return rule;
}

/* The kind of a word in the same memory as a place. */
static enum value_kind word_at(struct value place)
{
    return place.kind == VALUE_SP      ? VALUE_AT_SP
           : place.kind == VALUE_BP    ? VALUE_AT_BP
           : place.kind == VALUE_AT_SP ? VALUE_AT_AT_SP
                                       : VALUE_AT_SAVED;
}

/* The rule if the return address is at `place` when the code is in this state. */
static struct stack_rule rule_of(const struct code_state *state, struct value place)
{
    struct rule rule = rule_of_cfa(place);
    struct value bp = state->bp;
    bool in_slot = bp.kind == VALUE_AT_AT_SP, is_word = bp.added == 0 || in_slot;
    if (value_is_bp(bp)) {
        rule.bp = BP_SAME;
    } else if (is_word && bp.kind == word_at(place)) {
        rule.bp = BP_AT_CFA;
        rule.bp_offset = in_slot ? bp.added - rule_added(rule) : bp.offset - rule.cfa_offset;
    } else if (is_word && bp.kind == VALUE_AT_BP) {
        rule.bp = BP_AT_BP;
        rule.bp_offset = bp.offset;
    } else {
        rule = no_rule;
    }
    return (struct stack_rule){rule, place.kind == VALUE_SAVED ? state->saved_sp : 0};
}

/* The rule of code whose sp is `distance` bytes above that of code with this rule. */
static struct rule moved(struct rule rule, int32_t distance)
{
    if (rule.kind == RULE_CFA_SP)
        rule.cfa_offset -= distance;
    if (rule.kind == RULE_CFA_AT_SP)
        rule.cfa_offset -= distance * RULE_SLOT_UNIT;
    return rule;
}

/* The rule at the start if the code that the walk has come to has this one. */
static struct rule rule_by(const struct code_state *state, struct rule rule)
{
    if (state->sp.kind != VALUE_SP || !value_is_bp(state->bp))
        return no_rule;
    rule = moved(rule, -state->sp.offset);
    enum value_kind kind = rule.kind == RULE_CFA_SP ? VALUE_SP : VALUE_BP;
    struct value saved = {kind, rule.cfa_offset + rule.bp_offset, 0};
    if (rule.bp == BP_AT_CFA && value_is_same(saved, state->bp_saved)) {
        rule.bp = BP_SAME;
        rule.bp_offset = 0;
    }
    return rule;
}

/* The rule of a run if this is the rule at the start. */
static struct rule rule_of_run(const struct code_run *run, struct stack_rule found)
{
    struct rule rule = found.rule;
    enum value_kind kind = rule.kind == RULE_CFA_SP ? VALUE_SP : VALUE_BP;
    if (run->bp_saved.kind != VALUE_UNKNOWN) {
        if (run->bp_saved.kind != kind || rule.kind == RULE_CFA_AT_SP || found.saved_sp)
            return no_rule;
        rule.bp = BP_AT_CFA;
        rule.bp_offset = run->bp_saved.offset - rule.cfa_offset;
    }
    return found.saved_sp ? rule : moved(rule, run->sp);
}

/* ---- from the code to a return ---- */

/* Where a search begins, and its results. */
struct search {
    struct memory *memory;
    struct rule_cache *cache;
    const struct bare_frame *bare;
    const struct frame *frame;
    uint64_t resume; /* where the frame goes on */
    bool in_module, has_fde;
    struct stack_rule found;
};

/* Whether there is a return address where the rule that was found says. */
static bool is_right(const struct search *s)
{
    struct frame from = *s->frame, caller;
    struct rule rule = s->found.rule;
    uint64_t ra;
    if (rule.kind == RULE_NONE || (rule.kind == RULE_CFA_BP && !return_frame_pointer(s->frame)))
        return false;
    if (s->found.saved_sp && !(s->in_module && saved_sp_is_in(s->bare->registers, s->frame,
                                                              s->found.saved_sp - 1, &from.sp)))
        return false;
    return frame_step(s->memory, rule, &from, &caller) == STEP_OK &&
           return_address_at(s->memory, s->frame, caller.sp - 8, &ra);
}

/* Whether an earlier walk has found the rule of the code that comes next. */
static bool is_learned(struct search *s, struct code_walk *walk)
{
    const struct learned_range *known = learned_range_find(&s->cache->learned, walk->state.pc);
    const struct code_state *state = &walk->state;
    if (!known)
        return false;
    s->found = known->found;
    if (!known->found.saved_sp)
        s->found.rule = rule_by(state, known->found.rule);
    else if (state->bp_saved.kind != VALUE_UNKNOWN || !value_is_bp(state->bp))
        s->found.rule = no_rule;
    return s->found.rule.kind != RULE_NONE;
}

/* Whether the way leads from code without unwind information to a function that has it: that tells
 * the rest, if it is the end of this one, which jumps to the other. */
static bool is_function(struct search *s, struct code_walk *walk)
{
    uint64_t pc = walk->state.pc;
    if (s->has_fde || pc - walk->gap.first < walk->gap.end - walk->gap.first)
        return false;
    struct rule rule = rule_cache_get(s->cache, pc);
    if (rule.kind == RULE_NO_FDE) {
        uint64_t end = rule_cache_next_function(s->cache, pc);
        walk->gap = (struct code_segment){end ? pc : 0, end};
        return false;
    }
    if (!s->in_module)
        walk->joined = pc;
    s->found.rule = rule.kind == RULE_CFA_SP ? rule_by(&walk->state, rule) : no_rule;
    s->found.saved_sp = 0;
    return true;
}

static enum code_next step(struct search *s, struct code_walk *walk)
{
    if (code_walk_needs_code(walk) &&
        ((s->in_module && is_learned(s, walk)) || is_function(s, walk))) {
        walk->may_return = true;
        return CODE_RETURNS;
    }
    enum code_next next = code_walk_step(s->memory, walk);
    if (next == CODE_RETURNS || next == CODE_MAY_RETURN)
        s->found = rule_of(&walk->state, walk->place);
    return next;
}

/* Follows the code. Sets s->found and returns true at a return that is right. *uncertain is what was
 * found if an indirect jump leaves the function. */
static bool find_return(struct search *s, struct code_walk *walk, struct stack_rule *uncertain)
{
    for (unsigned steps = 0; steps < MAX_STEPS && memory_spend(s->memory, 1); steps++) {
        enum code_next next = step(s, walk);
        if (next == CODE_RETURNS && is_right(s))
            return true;
        if (next == CODE_MAY_RETURN && uncertain->rule.kind == RULE_NONE && is_right(s))
            *uncertain = s->found;
        if (next != CODE_GOES_ON && !code_walk_other_way(walk))
            return false;
    }
    walk->may_return = true;
    return false;
}

/* Learns the rules of all code on the way to the return. */
static void learn_way(struct search *s, struct code_walk *walk)
{
    code_walk_end_run(walk);
    for (unsigned i = walk->state.run_before; i > 0; i = walk->runs[i - 1].before) {
        const struct code_run *run = &walk->runs[i - 1];
        struct stack_rule found = {rule_of_run(run, s->found), s->found.saved_sp};
        if (found.rule.kind != RULE_NONE)
            learned_range_add(&s->cache->learned, run->first, run->last, found);
    }
}

static bool walk_to_return(struct search *s, struct code_walk *walk)
{
    struct stack_rule uncertain = {no_rule, 0};
    code_walk_begin(walk, s->resume);
    if (find_return(s, walk, &uncertain)) {
        if (s->in_module)
            learn_way(s, walk);
        return true;
    }
    s->found = uncertain;
    return uncertain.rule.kind != RULE_NONE && !memory_is_exhausted(s->memory);
}

/* ---- from the begin of the function to the code ---- */

#define PROLOGUE_REACH (1u << 14)
#define WINDOW         256
#define PROLOGUE       4 /* bytes */

/* push %rbp; mov %rsp, %rbp */
static bool is_prologue(const uint8_t *code)
{
    static const uint8_t forms[][PROLOGUE] = {{0x55, 0x48, 0x89, 0xe5}, {0x55, 0x48, 0x8b, 0xec}};
    return memcmp(code, forms[0], PROLOGUE) == 0 || memcmp(code, forms[1], PROLOGUE) == 0;
}

/* Finds the last prologue that ends at `end` or before. */
static bool find_prologue(struct memory *memory, uint64_t end, uint64_t *prologue)
{
    uint8_t code[WINDOW];
    for (uint64_t at = end - WINDOW; end - at <= PROLOGUE_REACH; at -= WINDOW - PROLOGUE + 1) {
        if (!memory_read_searched(memory, at, code, WINDOW))
            return false;
        for (unsigned i = WINDOW - PROLOGUE + 1; i-- > 0;)
            if (is_prologue(code + i)) {
                *prologue = at + i;
                return true;
            }
    }
    return false;
}

/* The rule of the state, if the walk began where a function does. */
static struct rule rule_since_begin(const struct code_state *state)
{
    if (value_is_same(state->bp, (struct value){VALUE_SP, -8, 0}))
        return frame_pointer_rule;
    if (state->sp.kind != VALUE_SP || !value_is_bp(state->bp))
        return no_rule;
    return (struct rule){.kind = RULE_CFA_SP, .cfa_offset = 8 - state->sp.offset};
}

/* Code that never returns itself, since it ends in jumps to other code: HotSpot's loops that are
 * entered in the middle (on-stack replacement). Its frame is what the code since the function's
 * prologue has made of it. */
static bool walk_from_prologue(struct search *s, struct code_walk *walk)
{
    uint64_t begin;
    if (!find_prologue(s->memory, s->resume, &begin))
        return false;
    code_walk_begin(walk, begin);
    for (unsigned steps = 0; steps < MAX_STEPS && memory_spend(s->memory, 1); steps++) {
        if (walk->state.pc == s->resume) {
            s->found = (struct stack_rule){rule_since_begin(&walk->state), 0};
            return is_right(s);
        }
        if (code_walk_step(s->memory, walk) != CODE_GOES_ON && !code_walk_other_way(walk))
            return false;
    }
    return false;
}

/* ---- frame pointers ---- */

/* Learns from a frame that has called another, and so has its frame pointer, if it has one, and
 * whose rule restores the caller's rbp. (Parts of functions that are called within them leave rbp
 * alone.) */
static void note_frame_pointer(struct search *s)
{
    const struct frame *frame = s->frame;
    struct rule rule = s->found.rule;
    uint64_t base = rule.kind == RULE_CFA_BP ? frame->bp : frame->sp;
    uint64_t cfa = base + (uint64_t)rule.cfa_offset;
    if (rule.bp == BP_AT_CFA && rule.kind != RULE_CFA_AT_SP)
        learned_note_frame_pointer(&s->cache->learned, frame->pc,
                                   rule.bp_offset == -16 && frame->bp == cfa - 16);
}

/* The code did not give a rule. Code in modules may use rbp for data; compilers at run time do not
 * do so with negative offsets. */
static bool has_frame_pointer(const struct search *s, const struct code_walk *walk)
{
    return !walk->callers_bp &&
           (walk->uses_frame || learned_has_frame_pointers(&s->cache->learned, s->frame->pc));
}

static bool find_frame_pointer(struct search *s, const struct code_walk *walk)
{
    s->found = (struct stack_rule){frame_pointer_rule, 0};
    if (!has_frame_pointer(s, walk) || !is_right(s) || memory_is_exhausted(s->memory))
        return false;
    if (walk->uses_frame)
        note_frame_pointer(s);
    return true;
}

/* Code before a prologue: the caller's rbp is still in the register. */
static bool is_before_prologue(struct search *s, const struct code_walk *walk)
{
    s->found = (struct stack_rule){rule_of_cfa(walk->entry), 0};
    return is_right(s) && !memory_is_exhausted(s->memory);
}

/* ---- the search ---- */

enum code_result code_rule(struct memory *memory, struct rule_cache *cache,
                           const struct bare_frame *bare, struct stack_rule *found)
{
    struct code_walk *walk = &cache->walk;
    struct module_range module;
    struct search s = {.memory = memory,
                       .cache = cache,
                       .bare = bare,
                       .frame = bare->frame,
                       .resume = bare->frame->pc + !bare->interrupted,
                       .in_module = module_range_find(bare->frame->pc, &module),
                       .has_fde = rule_cache_get(cache, bare->frame->pc).kind != RULE_NO_FDE};
    bool has_rule = walk_to_return(&s, walk);
    if (has_rule && !s.in_module && !bare->interrupted)
        note_frame_pointer(&s);
    if (!has_rule && s.in_module && !walk->may_return)
        return CODE_NEVER_RETURNS;
    if (!has_rule && !s.in_module)
        has_rule = is_before_prologue(&s, walk) || find_frame_pointer(&s, walk) ||
                   walk_from_prologue(&s, walk);
    *found = s.found;
    return has_rule ? CODE_HAS_RULE : CODE_HAS_NO_RULE;
}
