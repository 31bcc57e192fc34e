#include "hpcrun/unwind/irregular-step.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/call-site.h"
#include "hpcrun/unwind/carry-out.h"
#include "hpcrun/unwind/code-rule.h"
#include "hpcrun/unwind/return-address.h"
#include "hpcrun/unwind/saved-sp.h"

#include <string.h>

#define TOP_WORDS  3
#define SCAN_WORDS 64
#define NEAR       (1u << 16)

/* ---- guesses ---- */

/* The caller if its return address is at `place`. */
static bool caller_at(struct memory *memory, const struct frame *frame, uint64_t place,
                      struct frame *caller)
{
    uint64_t ra, bp = frame->bp;
    if (!return_address_guessed_at(memory, frame, place, &ra))
        return false;
    /* If rbp points to the word before, that is the caller's rbp. */
    if (frame->bp == place - 8 && !memory_load(memory, place - 8, &bp))
        return false;
    *caller = (struct frame){.pc = ra - 1, .sp = place + 8, .bp = bp};
    return true;
}

static bool from_stack_words(struct memory *memory, const struct frame *frame, unsigned words,
                             struct frame *caller)
{
    for (unsigned i = 0; i < words; i++)
        if (caller_at(memory, frame, frame->sp + 8 * i, caller))
            return true;
    return false;
}

static bool from_frame_pointer(struct memory *memory, const struct frame *frame,
                               struct frame *caller)
{
    uint64_t ra, bp;
    if (!return_frame_pointer(frame) || !memory_load(memory, frame->bp, &bp) ||
        !return_address_guessed_at(memory, frame, frame->bp + 8, &ra))
        return false;
    *caller = (struct frame){.pc = ra - 1, .sp = frame->bp + 16, .bp = bp};
    return true;
}

/* In a module: hand-written assembly. */
static bool first_guess(struct memory *memory, const struct frame *frame, bool interrupted,
                        struct frame *caller)
{
    if (interrupted && from_stack_words(memory, frame, TOP_WORDS, caller))
        return true;
    return from_frame_pointer(memory, frame, caller) ||
           from_stack_words(memory, frame, SCAN_WORDS, caller);
}

/* Whether the caller directly calls an address a little before `pc`, in the same module, that has
 * no unwind information either: then it has called this code. */
static bool surely_calls(struct memory *memory, struct rule_cache *cache,
                         const struct frame *caller, uint64_t pc, const struct module_range *module)
{
    uint64_t target;
    return call_site_target(memory, caller->pc + 1, &target) && pc - target < NEAR &&
           target >= module->start && rule_cache_get(cache, target).kind == RULE_NO_FDE;
}

/* Whether unwinding from a frame by unwind information passes over `place`, or ends before. */
static bool passes_over(struct memory *memory, struct rule_cache *cache, struct frame frame,
                        uint64_t place)
{
    struct frame caller = {0};
    for (unsigned i = 0; i < SCAN_WORDS; i++, frame = caller) {
        if (!frame_rule_is_regular(rule_cache_get(cache, frame.pc)))
            return false;
        if (!frame_caller(memory, cache, &frame, &caller) || caller.sp > place ||
            !call_site_is_before(memory, caller.pc + 1))
            return true;
    }
    return false;
}

/* Earlier calls may have left return addresses, even whole chains, in an unused part of the frame.
 * But if a call has called this code for sure, no true path passes over the return address that it
 * pushed. */
static void correct(struct memory *memory, struct rule_cache *cache, const struct frame *frame,
                    struct frame *caller)
{
    struct frame sure;
    struct module_range module;
    if (!module_range_find(frame->pc, &module) ||
        surely_calls(memory, cache, caller, frame->pc, &module))
        return;
    for (unsigned i = 0; i < SCAN_WORDS; i++) {
        uint64_t word, place = frame->sp + 8 * i;
        if (place >= caller->sp && memory_load(memory, place, &word) && word >= module.start &&
            word < module.end && caller_at(memory, frame, place, &sure) &&
            surely_calls(memory, cache, &sure, frame->pc, &module)) {
            if (passes_over(memory, cache, *caller, place))
                *caller = sure;
            return;
        }
    }
}

/* Only in modules. Code made at run time that has no rule from itself ends in indirect jumps, as
 * interpreters do. Without a frame pointer, its rbp is that of some caller. */
static bool guess(struct memory *memory, struct rule_cache *cache, const struct bare_frame *bare,
                  struct frame *caller)
{
    const struct frame *frame = bare->frame;
    struct module_range module;
    memory->searching = true;
    if (!module_range_find(frame->pc, &module) ||
        !first_guess(memory, frame, bare->interrupted, caller))
        return false;
    correct(memory, cache, frame, caller);
    return !memory_is_exhausted(memory);
}

/* ---- learned rules ---- */

/* Number of uses of an entry without a rule between two searches. */
#define USES_PER_SEARCH 32

/* The rule that leads from the frame to the caller that was guessed. */
static struct rule rule_of_guess(const struct frame *frame, const struct frame *caller)
{
    struct rule rule = {.bp = BP_SAME};
    if (frame->bp == caller->sp - 16) {
        rule.bp = BP_AT_CFA;
        rule.bp_offset = -16;
    }
    bool by_bp = rule.bp == BP_AT_CFA && caller->sp - frame->sp > 8 * (TOP_WORDS + 1);
    rule.kind = by_bp ? RULE_CFA_BP : RULE_CFA_SP;
    rule.cfa_offset = (int32_t)(caller->sp - (by_bp ? frame->bp : frame->sp));
    return rule;
}

static void learn(struct learned_rule *entry, struct stack_rule found)
{
    entry->found = found;
    entry->seen = LEARNED_SURE;
}

/* The step by a rule that was learned, if it leads to a return address. */
static bool step_by(struct memory *memory, struct rule rule, struct frame *frame,
                    struct frame *caller)
{
    uint64_t ra;
    if (!frame_rule_is_regular(rule) || (rule.kind == RULE_CFA_BP && !return_frame_pointer(frame)))
        return false;
    if (frame_step(memory, rule, frame, caller) == STEP_OK &&
        return_address_at(memory, frame, caller->sp - 8, &ra))
        return true;
    frame->link = LINK_IRREGULAR;
    return false;
}

/* ---- code made at run time in the frame of a function ---- */

/* Code that jumps into a function with unwind information, and not to its caller, is a part of that
 * function, which has jumped to it: LuaJIT's traces. Its caller is the first that calls the
 * function. `joined`: where it jumps to; 0: nowhere. Finds the rule. */
static bool rule_of_joined(struct memory *memory, struct rule_cache *cache, uint64_t joined,
                           const struct frame *frame, struct rule *rule)
{
    uint64_t ra, target, function = joined ? rule_cache_function(cache, joined) : 0;
    if (!function)
        return false;
    *rule = rule_cache_get(cache, joined);
    rule->kind = RULE_CFA_SP;
    for (unsigned i = 0; i < SCAN_WORDS; i++) {
        rule->cfa_offset = (int32_t)(8 * i + 8);
        if (return_address_at(memory, frame, frame->sp + 8 * i, &ra) &&
            call_site_target(memory, ra, &target) && rule_cache_function(cache, target) == function)
            return rule->bp != BP_AT_BP;
    }
    return false;
}

/* ---- the old stack pointer in a register ---- */

/* The step by a rule that was found. With an old stack pointer, it is the step from the frame as it
 * will be. */
static bool step_by_found(struct memory *memory, struct stack_rule found,
                          const struct bare_frame *bare, struct frame *caller)
{
    uint64_t ra;
    struct frame later = *bare->frame;
    if (!found.saved_sp)
        return step_by(memory, found.rule, bare->frame, caller);
    if (!saved_sp_is_in(bare->registers, bare->frame, found.saved_sp - 1, &later.sp))
        return false;
    return step_by(memory, found.rule, &later, caller) &&
           return_address_guessed_at(memory, bare->frame, caller->sp - 8, &ra);
}

/* The entry then says RULE_FULL. */
static bool search_by_carrying_out(struct memory *memory, struct learned_rule *entry,
                                   const struct bare_frame *bare, struct frame *caller)
{
    struct module_range module;
    if (!module_range_find(bare->frame->pc, &module) || !carry_out(memory, bare, caller))
        return false;
    learn(entry, (struct stack_rule){.rule.kind = RULE_FULL});
    return true;
}

static bool search_saved_sp(struct memory *memory, struct rule_cache *cache,
                            struct learned_rule *entry, const struct bare_frame *bare,
                            struct frame *caller)
{
    struct saved_sp_search search = {.registers = bare->registers, .frame = bare->frame};
    struct module_range module;
    struct frame later;
    struct bare_frame bare_later = {.frame = &later, .interrupted = true};
    struct stack_rule found;
    if (!module_range_find(bare->frame->pc, &module))
        return false;
    for (unsigned number; saved_sp_find(&search, memory, &number, &later);) {
        if (code_rule(memory, cache, &bare_later, &found) != CODE_HAS_RULE)
            continue;
        found.saved_sp = number + 1;
        if (step_by_found(memory, found, bare, caller) && !memory_is_exhausted(memory)) {
            learn(entry, found);
            return true;
        }
    }
    return false;
}

/* ---- searching ---- */

/* Notes what a guess gave: a rule, or RULE_NONE. */
static void note(struct learned_rule *entry, struct rule rule)
{
    bool is_same = rule_is_same(entry->found.rule, rule) && !entry->found.saved_sp;
    entry->seen = is_same ? entry->seen + 1 : 1;
    entry->found = (struct stack_rule){rule, 0};
}

static enum step guess_and_note(struct memory *memory, struct rule_cache *cache,
                                struct learned_rule *entry, const struct bare_frame *bare,
                                struct frame *caller)
{
    bool found = guess(memory, cache, bare, caller);
    if (!memory_is_exhausted(memory))
        note(entry, found ? rule_of_guess(bare->frame, caller) : (struct rule){.kind = RULE_NONE});
    return found ? STEP_OK : STEP_FAILED;
}

/* By the code alone. STEP_OUTERMOST: it never returns. */
static enum step search_code(struct memory *memory, struct rule_cache *cache,
                             struct learned_rule *entry, const struct bare_frame *bare,
                             struct frame *caller)
{
    struct stack_rule found = {.saved_sp = 0}, joined = {.saved_sp = 0};
    memory->searching = true;
    enum code_result result = code_rule(memory, cache, bare, &found);
    if (result == CODE_HAS_NO_RULE &&
        rule_of_joined(memory, cache, cache->walk.joined, bare->frame, &joined.rule)) {
        result = CODE_HAS_RULE;
        found = joined;
    }
    if (memory_is_exhausted(memory))
        return STEP_FAILED;
    if (result == CODE_NEVER_RETURNS && bare->may_end && !bare->interrupted) {
        learn(entry, (struct stack_rule){.rule.kind = RULE_OUTERMOST});
        return STEP_OUTERMOST;
    }
    if (result != CODE_HAS_RULE || !step_by_found(memory, found, bare, caller))
        return STEP_FAILED;
    learn(entry, found);
    return STEP_OK;
}

/* Searches; notes the result in the entry. */
static enum step search(struct memory *memory, struct rule_cache *cache, struct learned_rule *entry,
                        const struct bare_frame *bare, struct frame *caller)
{
    enum step stepped = search_code(memory, cache, entry, bare, caller);
    if (stepped != STEP_FAILED || memory_is_exhausted(memory))
        return stepped;
    if (search_by_carrying_out(memory, entry, bare, caller) ||
        (bare->registers && search_saved_sp(memory, cache, entry, bare, caller)))
        return STEP_OK;
    return guess_and_note(memory, cache, entry, bare, caller);
}

/* From time to time, first soon: code around it may have become known to have frame pointers. */
static bool is_time_to_search(struct learned_rule *entry)
{
    entry->refused++;
    return entry->refused % USES_PER_SEARCH == 0 || (entry->refused & (entry->refused - 1)) == 0;
}

/* The entry for the frame. *search: it is new, or it is time to search for its rule again. */
static struct learned_rule *entry_of(struct rule_cache *cache, const struct frame *frame,
                                     uint64_t code, bool *search)
{
    struct learned_rule *entry = learned_find(&cache->learned, frame->pc, code);
    *search = !entry || (entry->found.rule.kind == RULE_NONE && is_time_to_search(entry));
    return entry ? entry : learned_add(&cache->learned, frame->pc, code);
}

/* By the rule that an earlier walk through the code has found. */
static bool step_by_range(struct memory *memory, struct rule_cache *cache,
                          const struct bare_frame *bare, struct frame *caller)
{
    const struct learned_range *range = learned_range_find(&cache->learned, bare->frame->pc);
    return range && step_by_found(memory, range->found, bare, caller);
}

static enum step find_caller(struct memory *memory, struct rule_cache *cache, uint64_t code,
                             const struct bare_frame *bare, struct frame *caller)
{
    bool is_time;
    if (step_by_range(memory, cache, bare, caller))
        return STEP_OK;
    struct learned_rule *entry = entry_of(cache, bare->frame, code, &is_time);
    if (entry->found.rule.kind == RULE_OUTERMOST && bare->may_end)
        return STEP_OUTERMOST;
    if (entry->found.rule.kind == RULE_NONE)
        return is_time ? search(memory, cache, entry, bare, caller) : STEP_FAILED;
    if (entry->seen >= LEARNED_SURE && step_by_found(memory, entry->found, bare, caller))
        return STEP_OK;
    if (entry->found.rule.kind == RULE_FULL && carry_out(memory, bare, caller))
        return STEP_OK;
    return guess_and_note(memory, cache, entry, bare, caller);
}

static uint64_t resume_of(const struct bare_frame *bare)
{
    return bare->frame->pc + !bare->interrupted;
}

bool fallback_step_by_code(struct memory *memory, struct rule_cache *cache,
                           const struct bare_frame *bare, struct frame *caller)
{
    uint64_t code;
    bool is_time, found = false;
    bare->frame->link = LINK_IRREGULAR;
    if (step_by_range(memory, cache, bare, caller))
        return true;
    if (!memory_load(memory, resume_of(bare), &code))
        return false;
    struct learned_rule *entry = entry_of(cache, bare->frame, code, &is_time);
    if (entry->found.rule.kind != RULE_NONE)
        found = step_by_found(memory, entry->found, bare, caller);
    else if (is_time)
        found = search_code(memory, cache, entry, bare, caller) == STEP_OK;
    memory->searching = false;
    return found;
}

/* HotSpot's interpreter has made room for local variables above its arguments: the caller's stack
 * pointer is at rbp - 8. */
static void leave_interpreter(struct memory *memory, const struct frame *frame,
                              struct frame *caller)
{
    uint64_t sp;
    if (memory_load(memory, frame->bp - 8, &sp) && sp - caller->sp < RETURN_MAX_FRAME)
        caller->sp = sp;
}

enum step fallback_step(struct memory *memory, struct rule_cache *cache,
                        const struct bare_frame *bare, struct frame *caller)
{
    uint64_t code;
    struct frame *frame = bare->frame;
    frame->link = LINK_IRREGULAR;
    if (!memory_load(memory, resume_of(bare), &code))
        return guess(memory, cache, bare, caller) ? STEP_OK : STEP_FAILED;
    enum step stepped = find_caller(memory, cache, code, bare, caller);
    memory->searching = false;
    if (stepped == STEP_OK && !bare->interrupted && return_to_interpreter(code)) {
        leave_interpreter(memory, frame, caller);
        frame->link = LINK_IRREGULAR;
    }
    return memory_is_exhausted(memory) ? STEP_FAILED : stepped;
}
