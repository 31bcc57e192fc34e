#include "hpcrun/unwind/code-rule.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/code-walk.h"
#include "hpcrun/unwind/return-address.h"

#include <string.h>

#define MAX_STEPS 3000
#define MAX_ADDED (8 * (RULE_SLOT_UNIT - 1)) /* bytes */

/* ---- rules ---- */

static const struct rule no_rule = {.kind = RULE_NONE};

/* Whether this is the start's rbp. */
static bool is_start(struct value bp)
{
    return value_is_same(bp, (struct value){VALUE_BP, 0, 0});
}

/* The rule for the CFA that the return address at `place` gives. */
static struct rule rule_of_cfa(struct value place)
{
    struct rule rule = {.kind = RULE_NONE, .cfa_offset = place.offset + 8};
    bool is_near = place.added >= 0 && place.added < MAX_ADDED && place.added % 8 == 0;
    if (place.kind == VALUE_SP)
        rule.kind = RULE_CFA_SP;
    if (place.kind == VALUE_BP)
        rule.kind = RULE_CFA_BP;
    if (place.kind == VALUE_AT_SP && is_near) {
        rule.kind = RULE_CFA_AT_SP;
        rule.cfa_offset = place.offset * RULE_SLOT_UNIT + place.added / 8 + 1;
    }
    return place.offset < 0 ? no_rule : rule;
}

/* The kind of a word in the frame of a rule. */
static enum value_kind kind_of_word(struct rule rule)
{
    return rule.kind == RULE_CFA_SP   ? VALUE_AT_SP
           : rule.kind == RULE_CFA_BP ? VALUE_AT_BP
                                      : VALUE_AT_AT_SP;
}

/* The rule if the return address is at `place` when the code is in this state. */
static struct rule rule_of(const struct code_state *state, struct value place)
{
    struct rule rule = rule_of_cfa(place);
    struct value bp = state->bp;
    bool is_word = bp.added == 0 || bp.kind == VALUE_AT_AT_SP;
    if (rule.kind == RULE_NONE || is_start(bp))
        return rule;
    if (is_word && bp.kind == kind_of_word(rule)) {
        rule.bp = BP_AT_CFA;
        rule.bp_offset = rule.kind == RULE_CFA_AT_SP ? bp.added - rule_added(rule)
                                                     : bp.offset - rule.cfa_offset;
        return rule;
    }
    if (is_word && bp.kind == VALUE_AT_BP) {
        rule.bp = BP_AT_BP;
        rule.bp_offset = bp.offset;
        return rule;
    }
    return no_rule;
}

static bool is_right(struct memory *memory, const struct frame *frame, struct rule rule)
{
    struct frame from = *frame, caller;
    uint64_t ra;
    if (rule.kind == RULE_NONE || (rule.kind == RULE_CFA_BP && !return_frame_pointer(frame)))
        return false;
    return frame_step(memory, rule, &from, &caller) == STEP_OK &&
           return_address_at(memory, frame, caller.sp - 8, &ra);
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
    if (state->sp.kind != VALUE_SP || !is_start(state->bp))
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
static struct rule rule_of_run(const struct code_run *run, struct rule rule)
{
    enum value_kind kind = rule.kind == RULE_CFA_SP ? VALUE_SP : VALUE_BP;
    if (run->bp_saved.kind != VALUE_UNKNOWN) {
        if (run->bp_saved.kind != kind || rule.kind == RULE_CFA_AT_SP)
            return no_rule;
        rule.bp = BP_AT_CFA;
        rule.bp_offset = run->bp_saved.offset - rule.cfa_offset;
    }
    return moved(rule, run->sp);
}

/* ---- from the code to a return ---- */

/* Where a search begins, and its results. */
struct search {
    struct memory *memory;
    struct rule_cache *cache;
    const struct frame *frame;
    uint64_t resume; /* where the frame goes on */
    bool in_module, has_fde;
    struct rule rule;
};

/* Whether an earlier walk has found the rule of the code that comes next. */
static bool is_learned(struct search *s, struct code_walk *walk)
{
    const struct learned_range *known = learned_range_find(&s->cache->learned, walk->state.pc);
    s->rule = known ? rule_by(&walk->state, known->rule) : no_rule;
    return s->rule.kind != RULE_NONE;
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
        walk->joined = rule_cache_function(s->cache, pc);
    s->rule = rule.kind == RULE_CFA_SP ? rule_by(&walk->state, rule) : no_rule;
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
    if (next == CODE_RETURNS || next == CODE_MAY_RETURN) {
        walk->callers_bp |= is_start(walk->state.bp);
        s->rule = rule_of(&walk->state, walk->place);
    }
    return next;
}

/* Follows the code. Sets s->rule and returns true at a return that is right. *uncertain is the rule if
 * an indirect jump leaves the function. */
static bool find_return(struct search *s, struct code_walk *walk, struct rule *uncertain)
{
    for (unsigned steps = 0; steps < MAX_STEPS && memory_spend(s->memory, 1); steps++) {
        enum code_next next = step(s, walk);
        if (next == CODE_RETURNS && is_right(s->memory, s->frame, s->rule))
            return true;
        if (next == CODE_MAY_RETURN && uncertain->kind == RULE_NONE &&
            is_right(s->memory, s->frame, s->rule))
            *uncertain = s->rule;
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
        struct rule rule = rule_of_run(run, s->rule);
        if (rule.kind != RULE_NONE)
            learned_range_add(&s->cache->learned, run->first, run->last, rule);
    }
}

static bool walk_to_return(struct search *s, struct code_walk *walk)
{
    struct rule uncertain = no_rule;
    code_walk_begin(walk, s->resume);
    if (find_return(s, walk, &uncertain)) {
        if (s->in_module)
            learn_way(s, walk);
        return true;
    }
    s->rule = uncertain;
    return uncertain.kind != RULE_NONE && !memory_is_exhausted(s->memory);
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
    struct rule rule = {.kind = RULE_CFA_BP, .cfa_offset = 16, .bp = BP_AT_CFA, .bp_offset = -16};
    if (value_is_same(state->bp, (struct value){VALUE_SP, -8, 0}))
        return rule;
    if (state->sp.kind != VALUE_SP || !is_start(state->bp))
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
            s->rule = rule_since_begin(&walk->state);
            return is_right(s->memory, s->frame, s->rule);
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
    uint64_t cfa = (s->rule.kind == RULE_CFA_BP ? frame->bp : frame->sp) + (uint64_t)s->rule.cfa_offset;
    if (s->rule.bp == BP_AT_CFA && s->rule.kind != RULE_CFA_AT_SP)
        learned_note_frame_pointer(&s->cache->learned, frame->pc,
                                   s->rule.bp_offset == -16 && frame->bp == cfa - 16);
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
    s->rule = (struct rule){.kind = RULE_CFA_BP, .cfa_offset = 16, .bp = BP_AT_CFA, .bp_offset = -16};
    if (!has_frame_pointer(s, walk) || !is_right(s->memory, s->frame, s->rule) ||
        memory_is_exhausted(s->memory))
        return false;
    if (walk->uses_frame)
        note_frame_pointer(s);
    return true;
}

/* ---- the search ---- */

enum code_result code_rule(struct memory *memory, struct rule_cache *cache,
                           const struct frame *frame, bool interrupted, struct rule *rule)
{
    struct code_walk *walk = &cache->walk;
    struct module_range module;
    struct search s = {.memory = memory,
                       .cache = cache,
                       .frame = frame,
                       .resume = frame->pc + !interrupted,
                       .in_module = module_range_find(frame->pc, &module),
                       .has_fde = rule_cache_get(cache, frame->pc).kind != RULE_NO_FDE};
    bool found = walk_to_return(&s, walk);
    if (found && !s.in_module && !interrupted)
        note_frame_pointer(&s);
    if (!found && s.in_module && !walk->may_return)
        return CODE_NEVER_RETURNS;
    if (!found && !s.in_module)
        found = find_frame_pointer(&s, walk) || walk_from_prologue(&s, walk);
    *rule = s.rule;
    return found ? CODE_HAS_RULE : CODE_HAS_NO_RULE;
}
