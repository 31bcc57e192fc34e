#include "hpcstruct/flow/no-return.h"

#include "hpcstruct/elf/names.h"
#include "lib/binary-search.h"
#include "lib/parallel.h"

#include <stdlib.h>

enum return_state { RETURN_UNKNOWN, RETURNS, NEVER_RETURNS };

#define NONE UINT32_MAX

/* The walk through `procedure` stopped at a call of, or a jump to, another procedure, because it is
 * unknown whether that one returns. */
struct stopped_walk {
    uint32_t procedure;
    uint32_t next;        /* in the list of the same other procedure; NONE: the last */
    uint64_t continue_at; /* the address after the call */
    bool is_tail_call;    /* a jump: `procedure` returns if the other one does */
};

struct return_analysis {
    struct module_code *code;
    uint8_t *states;         /* per procedure: enum return_state */
    uint32_t *first_stopped; /* per procedure: first walk that stopped at it, or NONE */
    VEC(struct stopped_walk) stopped;
    VEC(uint32_t) ready; /* indices in `stopped` of the walks that can continue */
    /* The current walk. It marks the transfers that it reaches, so that it never has to restart. */
    uint32_t procedure;
    VEC(uint64_t) open; /* addresses to continue at */
    struct landing_pads pads;
};

/* The procedure whose entry is at an address, or NONE. */
static uint32_t procedure_at_entry(const struct module_code *code, uint64_t address)
{
    uint32_t found = procedures_find(&code->procedures, &code->map, address);
    if (found != NONE && code->procedures.all.at[found].entry != address)
        return NONE;
    return found;
}

/* Whether a procedure is known to return. If that is unknown, adds `walk` to its stopped walks. */
static bool returns_now(struct return_analysis *analysis, uint32_t procedure,
                        struct stopped_walk walk)
{
    if (procedure == NONE)
        return true;
    if (analysis->states[procedure] == RETURN_UNKNOWN) {
        walk.procedure = analysis->procedure;
        walk.next = analysis->first_stopped[procedure];
        analysis->first_stopped[procedure] = (uint32_t)analysis->stopped.n;
        vec_push(&analysis->stopped, walk);
    }
    return analysis->states[procedure] == RETURNS;
}

/* The index of the first transfer at or after an offset. */
static uint32_t transfer_from(const struct fragment_flow *flow, uint64_t offset)
{
    return (uint32_t)partition_point(i, flow->transfers.n, flow->transfers.at[i].offset < offset);
}

static void continue_at_address(struct return_analysis *analysis, uint64_t address)
{
    vec_push(&analysis->open, address);
}

static void continue_in_table(struct return_analysis *analysis, const struct fragment_flow *flow,
                              const struct transfer *transfer)
{
    const struct jump_table *table = &flow->tables.at[transfer->target];
    for (uint32_t i = 0; i < table->count; i++)
        continue_at_address(analysis, flow->targets.at[table->first + i]);
}

/* Follows a transfer; true if the procedure returns by it. */
static bool follow(struct return_analysis *analysis, const struct code_fragment *fragment,
                   const struct fragment_flow *flow, const struct transfer *transfer)
{
    uint64_t next = fragment->begin + transfer->offset + transfer->length;
    switch ((enum transfer_kind)transfer->kind) {
    case TRANSFER_RETURN: return true;
    case TRANSFER_STOP: break;
    case TRANSFER_BRANCH: continue_at_address(analysis, next); __attribute__((fallthrough));
    case TRANSFER_JUMP: continue_at_address(analysis, transfer_target(fragment, transfer)); break;
    case TRANSFER_JUMP_INDIRECT:
        if (transfer->target == NO_JUMP_TABLE)
            return true;
        continue_in_table(analysis, flow, transfer);
        break;
    case TRANSFER_CALL_INDIRECT:
        if (!transfer->never_returns)
            continue_at_address(analysis, next);
        break;
    case TRANSFER_CALL: {
        uint32_t callee = procedure_at_entry(analysis->code, transfer_target(fragment, transfer));
        if (returns_now(analysis, callee, (struct stopped_walk){.continue_at = next}))
            continue_at_address(analysis, next);
        break;
    }
    }
    return false;
}

/* Continues at an address; true if the procedure returns from there. */
static bool visit(struct return_analysis *analysis, uint64_t address)
{
    const struct module_code *code = analysis->code;
    uint32_t number = code_map_find(&code->map, address);
    if (number == NONE)
        return true;
    const struct code_fragment *fragment = &code->map.fragments.at[number];
    if (code->procedures.of_owner.at[fragment->owner] != analysis->procedure)
        return returns_now(analysis, procedure_at_entry(code, address),
                           (struct stopped_walk){.is_tail_call = true});
    struct fragment_flow *flow = &code->flows[number];
    uint32_t index = transfer_from(flow, address - fragment->begin);
    if (index == flow->transfers.n) {
        continue_at_address(analysis, fragment->end);
        return false;
    }
    struct transfer *transfer = &flow->transfers.at[index];
    if (transfer->reached)
        return false;
    transfer->reached = true;
    return follow(analysis, fragment, flow, transfer);
}

/* Walks on from the open addresses. If the procedure returns, the walks that stopped at it are
 * ready to continue. */
static void walk_on(struct return_analysis *analysis)
{
    bool returns = false;
    while (!returns && analysis->open.n)
        returns = visit(analysis, analysis->open.at[--analysis->open.n]);
    analysis->open.n = 0;
    if (!returns)
        return;
    analysis->states[analysis->procedure] = RETURNS;
    for (uint32_t i = analysis->first_stopped[analysis->procedure]; i != NONE;
         i = analysis->stopped.at[i].next)
        vec_push(&analysis->ready, i);
}

static void start_walk(struct return_analysis *analysis, uint32_t procedure)
{
    const struct procedure *walked = &analysis->code->procedures.all.at[procedure];
    if (analysis->states[procedure] != RETURN_UNKNOWN)
        return;
    analysis->procedure = procedure;
    analysis->pads.all.n = 0;
    module_code_landing_pads(analysis->code, walked, &analysis->pads);
    for (size_t i = 0; i < analysis->pads.all.n; i++)
        continue_at_address(analysis, analysis->pads.all.at[i].address);
    continue_at_address(analysis, walked->entry);
    walk_on(analysis);
}

static void continue_walk(struct return_analysis *analysis, struct stopped_walk walk)
{
    analysis->procedure = walk.procedure;
    if (analysis->states[walk.procedure] != RETURN_UNKNOWN)
        return;
    /* UINT64_MAX lies outside all code, which counts as a return. */
    continue_at_address(analysis, walk.is_tail_call ? UINT64_MAX : walk.continue_at);
    walk_on(analysis);
}

/* Marks the calls of a fragment. */
static void mark_calls(void *context, unsigned worker, size_t number)
{
    const struct return_analysis *analysis = context;
    const struct code_fragment *fragment = &analysis->code->map.fragments.at[number];
    struct fragment_flow *flow = &analysis->code->flows[number];
    (void)worker;
    for (size_t i = 0; i < flow->transfers.n; i++) {
        struct transfer *transfer = &flow->transfers.at[i];
        if (transfer->kind != TRANSFER_CALL)
            continue;
        uint32_t callee = procedure_at_entry(analysis->code, transfer_target(fragment, transfer));
        transfer->never_returns = callee != NONE && analysis->states[callee] != RETURNS;
    }
}

void mark_calls_that_never_return(struct module_code *code, unsigned workers)
{
    size_t count = code->procedures.all.n;
    struct return_analysis analysis = {
        .code = code,
        .states = mem_alloc(count),
        .first_stopped = mem_alloc(count * sizeof *analysis.first_stopped),
    };
    for (size_t i = 0; i < count; i++) {
        const char *name = code->procedures.all.at[i].name;
        analysis.first_stopped[i] = NONE;
        if (name && is_no_return_name(name))
            analysis.states[i] = NEVER_RETURNS;
    }
    for (uint32_t i = 0; i < count; i++) {
        start_walk(&analysis, i);
        while (analysis.ready.n)
            continue_walk(&analysis, analysis.stopped.at[analysis.ready.at[--analysis.ready.n]]);
    }
    parallel_for(code->map.fragments.n, workers, mark_calls, &analysis);
    free(analysis.states);
    free(analysis.first_stopped);
    vec_free(&analysis.stopped);
    vec_free(&analysis.ready);
    vec_free(&analysis.open);
    vec_free(&analysis.pads.all);
}
