#include "hpcrun/outside/unknown-bp.h"

#include "hpcrun/unwind/code-walk.h"

#define MAX_FRAMES 64
#define MAX_STEPS  5000
#define KNOWN      256

/* Distances that were found. */
static struct {
    uint64_t resume;
    int32_t distance; /* rbp - sp; 0: unknown */
} known[KNOWN];

/* Follows the code from the function's begin to where it goes on. */
static int32_t search(struct memory *memory, uint64_t begin, uint64_t resume)
{
    static struct code_walk walk;
    code_walk_begin(&walk, begin);
    for (unsigned steps = 0; steps < MAX_STEPS; steps++) {
        const struct code_state *state = &walk.state;
        if (state->pc == resume)
            return state->sp.kind == VALUE_SP && state->bp.kind == VALUE_SP ? state->bp.offset - state->sp.offset : 0;
        enum code_next next = code_walk_step(memory, &walk);
        if (next != CODE_GOES_ON && !code_walk_other_way(&walk))
            return 0;
    }
    return 0;
}

static int32_t distance(struct unwinder *u, uint64_t pc)
{
    uint64_t resume = pc + 1, begin = rule_cache_function(u->cache, pc);
    if (known[resume % KNOWN].resume != resume) {
        known[resume % KNOWN].distance = begin ? search(&u->memory, begin, resume) : 0;
        known[resume % KNOWN].resume = resume;
    }
    return known[resume % KNOWN].distance;
}

uint64_t unknown_bp_find(struct unwinder *u, uint64_t pc, uint64_t sp)
{
    struct frame frame = {.pc = pc, .sp = sp}, caller;
    for (unsigned i = 0; i < MAX_FRAMES; i++) {
        struct rule rule = rule_cache_get(u->cache, frame.pc);
        if (rule.kind == RULE_CFA_BP && i > 0) {
            int32_t above = distance(u, frame.pc);
            return above ? frame.sp + (uint64_t)above : 0;
        }
        if (rule.kind != RULE_CFA_SP || rule.bp != BP_SAME ||
            frame_step(&u->memory, rule, &frame, &caller) != STEP_OK)
            return 0;
        frame = caller;
    }
    return 0;
}
