#include "hpcrun/unwind/unwind.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/unwind/call-site.h"
#include "hpcrun/unwind/carry-out.h"
#include "hpcrun/unwind/irregular-step.h"
#include "hpcrun/unwind/return-address.h"

#include <string.h>

static enum step failed(struct unwinder *u, enum unwind_end why)
{
    u->end = memory_is_exhausted(&u->memory) ? UNWIND_BUDGET : why;
    return STEP_FAILED;
}

static bool is_on_own_stack(const struct unwinder *u, uint64_t sp)
{
    return sp - u->stack_low < u->stack_high - u->stack_low;
}

static uint64_t gregs_place(uint64_t sp, unsigned which)
{
    return sp + offsetof(ucontext_t, uc_mcontext.gregs) + which * sizeof(greg_t);
}

static enum step step_signal(struct unwinder *u, struct frame *frame, struct frame *caller)
{
    frame->link = LINK_IRREGULAR;
    if (!memory_load(&u->memory, gregs_place(frame->sp, REG_RIP), &caller->pc) ||
        !memory_load(&u->memory, gregs_place(frame->sp, REG_RSP), &caller->sp) ||
        !memory_load(&u->memory, gregs_place(frame->sp, REG_RBP), &caller->bp))
        return failed(u, UNWIND_NOT_READABLE);
    return STEP_OK;
}

static inline enum step step_regular(struct unwinder *u, struct rule rule, struct frame *frame,
                                     struct frame *caller)
{
    enum step stepped = frame_step(&u->memory, rule, frame, caller);
    return stepped == STEP_FAILED ? failed(u, UNWIND_NOT_READABLE) : stepped;
}

/* Whether a signal interrupted the frame: the leaf, and the frame outside a signal frame. */
static bool is_interrupted(struct unwinder *u, const struct frame *frame)
{
    return frame == u->fresh || rule_cache_get(u->cache, frame[-1].pc).kind == RULE_SIGNAL;
}

#define HAND_WRITTEN 4 /* frames, one calling the other */

/* The leaf's registers, if they are those of the frame, too: hand-written code that is called by
 * hand-written code keeps registers that it does not use. NULL otherwise. */
static const ucontext_t *registers_of(struct unwinder *u, const struct frame *frame)
{
    if (frame - u->fresh >= HAND_WRITTEN)
        return NULL;
    for (const struct frame *inner = u->fresh; inner < frame; inner++)
        if (rule_cache_get(u->cache, inner->pc).kind != RULE_NO_FDE)
            return NULL;
    return u->context;
}

static struct bare_frame bare(struct unwinder *u, struct frame *frame)
{
    return (struct bare_frame){.frame = frame,
                               .registers = registers_of(u, frame),
                               .interrupted = is_interrupted(u, frame),
                               .may_end = !is_on_own_stack(u, frame->sp)};
}

/* Most steps of full_step_from in a walk, about 10 ms. Damaged information may ask for one from the leaf at each of
 * thousands of frames. */
#define MAX_FULL_STEPS 50000

/* `exact`: the result is the address where the frame will continue, not a return address. Near the end of
 * functions that have realigned their stack, gcc's unwind information has rbp wrong, and code that is
 * carried out is right. */
static enum step step_full(struct unwinder *u, bool exact, struct frame *frame,
                           struct frame *caller)
{
    uint64_t ra;
    struct bare_frame from = bare(u, frame);
    frame->link = LINK_IRREGULAR;
    if (!exact && from.interrupted && carry_out(&u->memory, &from, caller))
        return STEP_OK;
    u->full_steps += (uint32_t)(frame - u->fresh) + 1;
    if (u->full_steps > MAX_FULL_STEPS)
        return failed(u, UNWIND_BUDGET);
    if (!full_step_from(u->context, &u->memory, &u->cache->scratch, frame->pc, frame->sp,
                        UNWIND_MAX_FRAMES, &ra, &caller->sp, &caller->bp))
        return failed(u, UNWIND_NO_RULE);
    if (ra == 0)
        return STEP_ASTRAY;
    caller->pc = ra - !exact;
    return STEP_OK;
}

static enum step step_without_fde(struct unwinder *u, struct frame *frame, struct frame *caller)
{
    struct bare_frame from = bare(u, frame);
    enum step stepped = fallback_step(&u->memory, u->cache, &from, caller);
    return stepped == STEP_FAILED ? failed(u, UNWIND_NO_FDE) : stepped;
}

/* Whether the call before a frame's return address calls another function than that of its callee, or
 * a function with unwind information if that has none. */
static bool calls_other(struct unwinder *u, const struct frame *frame)
{
    uint64_t target, ra = frame->pc + 1, callee = rule_cache_function(u->cache, frame[-1].pc);
    if (!call_site_target(&u->memory, ra, &target))
        return false;
    return callee ? !call_site_calls(&u->memory, ra, callee)
                  : rule_cache_function(u->cache, target) != 0;
}

/* Whether a system call that the frame makes goes on in our code (restart/resumed-calls.h), which will
 * return after the frame's instruction. */
static bool makes_system_call(struct unwinder *u, const struct frame *frame)
{
    static const uint8_t syscall[] = {0x0f, 0x05};
    uint8_t code[sizeof syscall];
    return rule_cache_get(u->cache, frame[-1].pc).hidden &&
           memory_read_guarded(&u->memory, frame->pc + 1 - sizeof code, code, sizeof code) &&
           memcmp(code, syscall, sizeof code) == 0;
}

/* Whether the word that gave the last fresh frame its pc is no return address, or one that was made up
 * (unwind.h). Where a function begins directly after a call, that call may be one that never returns,
 * and the word the address of the function. */
static bool is_no_frame(struct unwinder *u, struct rule rule, const struct frame *frame)
{
    if ((rule.kind != RULE_NO_FDE && !rule.begins) || is_interrupted(u, frame))
        return false;
    if (!return_address_is_plausible(&u->memory, frame, frame->pc + 1))
        return !makes_system_call(u, frame);
    return rule.begins && !is_on_own_stack(u, frame->sp) && calls_other(u, frame);
}

/* Not inlined, as step_astray: the walk is half as large without them, and its code is rarely in the
 * processor's caches when a sample comes. */
__attribute__((noinline)) static enum step step_irregular(struct unwinder *u, struct rule rule,
                                                          struct frame *frame, struct frame *caller)
{
    if (is_no_frame(u, rule, frame)) {
        u->fresh_count--;
        return rule.begins || return_ends_goroutine(&u->memory, frame->pc + 1) ? STEP_OUTERMOST
                                                                               : STEP_ASTRAY;
    }
    rule.begins = false;
    switch ((enum rule_kind)rule.kind) {
    case RULE_OUTERMOST: return STEP_OUTERMOST;
    case RULE_SIGNAL: return step_signal(u, frame, caller);
    case RULE_FULL:
    case RULE_EH_RETURNED: return step_full(u, rule.kind == RULE_EH_RETURNED, frame, caller);
    case RULE_EH_RETURNING:
        return eh_return_step(&u->memory, u->cache, rule, frame, caller)
                   ? STEP_OK
                   : failed(u, UNWIND_NO_RULE);
    case RULE_NO_FDE: return step_without_fde(u, frame, caller);
    default: return step_regular(u, rule, frame, caller);
    }
}

/* One step of the walk. */
static inline enum step step(struct unwinder *u, struct frame *frame, struct frame *caller)
{
    struct rule rule = rule_cache_get(u->cache, frame->pc);
    return frame_rule_is_regular(rule) ? step_regular(u, rule, frame, caller)
                                       : step_irregular(u, rule, frame, caller);
}

static bool same_place(const struct frame *a, const struct frame *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->bp == b->bp;
}

/* Whether the words that led from path[i] to path[i - 1] are still there. */
static inline bool link_holds(struct unwinder *u, uint32_t i)
{
    const struct frame *frame = &u->path[i], *caller = frame - 1;
    uint64_t word;
    if (frame->link == LINK_IRREGULAR || !memory_load(&u->memory, caller->sp - 8, &word) ||
        word != caller->pc + 1)
        return false;
    return frame->link == LINK_BP_SAME ||
           (memory_load(&u->memory, caller->sp + (uint64_t)frame->link, &word) &&
            word == caller->bp);
}

/* The index of the outermost frame to which the links from path[i] on hold. */
static inline uint32_t holding(struct unwinder *u, uint32_t i)
{
    memory_begin_comparison(&u->memory);
    while (i > 0 && link_holds(u, i))
        i--;
    memory_end_comparison(&u->memory);
    return i;
}

static void push(struct unwinder *u, const struct frame *frame)
{
    u->fresh[u->fresh_count++] = *frame;
}

/* A frame that the walk has just come to. Word by word, as the step stored it: the processor waits for
 * stores that one load covers together, which doubles the time of a step. */
static inline void push_new(struct unwinder *u, const struct frame *frame)
{
    u->fresh[u->fresh_count++] = (struct frame){.pc = frame->pc, .sp = frame->sp, .bp = frame->bp};
}

/* Adds the frames path[limit - 1], ... path[from] to the fresh ones; false if they don't fit. */
static bool push_old(struct unwinder *u, uint32_t limit, uint32_t from)
{
    while (limit > from && u->fresh_count < UNWIND_MAX_FRAMES)
        push(u, &u->path[--limit]);
    return limit == from;
}

/* If unwind information leads from the leaf nowhere: whether it is about to resume another context. */
static bool leaf_resumes(struct unwinder *u, struct frame *caller)
{
    return u->fresh_count == 1 && context_step(u->context, &u->memory, u->fresh, caller);
}

/* The step where unwind information leads from the last fresh frame to no return address: wrong
 * information, or the first frame of a stack that is not the thread's own. */
__attribute__((noinline)) static enum step step_astray(struct unwinder *u, struct frame *caller)
{
    struct bare_frame from = bare(u, &u->fresh[u->fresh_count - 1]);
    if (memory_is_exhausted(&u->memory))
        return failed(u, UNWIND_BUDGET);
    bool may_be_wrong = !from.may_end || from.interrupted;
    if (may_be_wrong && fallback_step_by_code(&u->memory, u->cache, &from, caller))
        return STEP_OK;
    return from.may_end ? STEP_OUTERMOST : failed(u, UNWIND_NOT_A_RETURN_ADDRESS);
}

/* From outside: repeats the step from path[limit - 1] to its caller, if `frame` has the same pc and sp, and the caller
 * is still in its place. rbp may differ: code without frame pointers has other values there. */
static bool step_again(struct unwinder *u, uint32_t limit, struct frame *frame, struct frame *caller)
{
    const struct frame *before = &u->path[limit - 1];
    if (!u->elsewhere || limit < 2 || before->pc != frame->pc || before->sp != frame->sp ||
        rule_cache_get(u->cache, frame->pc).kind != RULE_CFA_SP || holding(u, limit - 1) == limit - 1)
        return false;
    *caller = before[-1];
    frame->link = before->link;
    if (frame->link == LINK_BP_SAME)
        caller->bp = frame->bp;
    return true;
}

/* Walks outwards from `frame`. Stores new frames in u->fresh, and in u->reused the number of frames
 * of the previous path that continue them. */
static enum unwind_end walk(struct unwinder *u, struct frame frame)
{
    uint32_t limit = u->depth; /* the walk may still come to path[0 .. limit) */
    for (;;) {
        while (limit > 0 && u->path[limit - 1].sp < frame.sp)
            limit--;
        if (limit > 0 && same_place(&u->path[limit - 1], &frame)) {
            uint32_t i = holding(u, limit - 1);
            if (i == 0 && !u->is_kept && u->fresh_count + limit <= UNWIND_MAX_FRAMES) {
                u->reused = limit;
                return UNWIND_COMPLETE;
            }
            if (!push_old(u, limit, i))
                return UNWIND_TOO_DEEP;
            if (i == 0 && u->is_kept)
                return UNWIND_COMPLETE;
            limit = i;
        } else {
            if (u->fresh_count == UNWIND_MAX_FRAMES)
                return UNWIND_TOO_DEEP;
            push_new(u, &frame);
        }
        struct frame caller = {0};
        struct frame *last = &u->fresh[u->fresh_count - 1];
        enum step stepped = step_again(u, limit, last, &caller) ? STEP_OK : step(u, last, &caller);
        if (stepped != STEP_OK && leaf_resumes(u, &caller))
            stepped = STEP_OK;
        if (stepped == STEP_ASTRAY)
            stepped = step_astray(u, &caller);
        if (stepped != STEP_OK)
            return stepped == STEP_OUTERMOST ? UNWIND_COMPLETE : u->end;
        if (same_place(&caller, &u->fresh[u->fresh_count - 1]))
            return UNWIND_NO_PROGRESS;
        frame = caller;
    }
}

/* Makes the path of the reused frames and, in reverse order, the fresh ones. All are in one array,
 * so that a thread with short paths uses just the first page of it.
 *
 * From outside, a path may be partial, since the stack has changed before all of it was read. Then the last complete
 * path is kept in front of it, for the next walk. */
static void assemble(struct unwinder *u)
{
    struct frame *first = u->fresh, *last = u->fresh + u->fresh_count - 1;
    for (; first < last; first++, last--) {
        struct frame frame = *first;
        *first = *last;
        *last = frame;
    }
    if (u->elsewhere && u->end != UNWIND_COMPLETE) {
        u->kept = u->depth;
        u->path = u->fresh;
        u->depth = u->fresh_count;
        return;
    }
    memmove(u->path + u->reused, u->fresh, u->fresh_count * sizeof *u->fresh);
    u->depth = u->reused + u->fresh_count;
}

static void take_kept(struct unwinder *u)
{
    u->path -= u->kept;
    u->depth = u->kept;
    u->kept = 0;
}

void unwind_prepare(struct unwinder *u, const ucontext_t *context)
{
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    uint32_t generation = modules_generation();
    if (generation != u->cache->generation || (u->end != UNWIND_COMPLETE && u->kept == 0))
        unwind_forget(u);
    u->is_kept = u->kept > 0;
    if (u->is_kept)
        take_kept(u);
    rule_cache_renew(u->cache, generation);
    u->context = context;
    memory_begin_sample(&u->memory, &u->cache->pages);
    u->memory.mask = context->uc_sigmask.__val[0];
    u->memory.fault_handler = u->fault_handler;
    if (u->elsewhere)
        memory_set_elsewhere(&u->memory, sp, u->elsewhere);
    else
        memory_set_own_stack(&u->memory, sp, is_on_own_stack(u, sp) ? u->stack_high : sp);
}

enum unwind_end unwind(struct unwinder *u, const ucontext_t *context)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    struct frame leaf = {
        .pc = (uint64_t)reg[REG_RIP], .sp = (uint64_t)reg[REG_RSP], .bp = (uint64_t)reg[REG_RBP]};
    unwind_prepare(u, context);
    u->fresh = u->path + u->depth;
    u->fresh_count = 0;
    u->full_steps = 0;
    u->reused = 0;
    if (guard_enter(&u->guard) == 0) {
        u->end = walk(u, leaf);
        guard_leave(&u->guard);
    } else {
        u->reused = 0;
        u->end = UNWIND_NOT_READABLE;
    }
    memory_end_sample(&u->memory);
    assemble(u);
    return u->end;
}
