#include "hpcstruct/flow/no-return.h"

#include "hpcstruct/elf/names.h"
#include "lib/binary-search.h"
#include "lib/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

enum return_state { RETURN_UNKNOWN, RETURNS, NEVER_RETURNS };

#define NONE UINT32_MAX

/* One thread does a round with fewer procedures: it would take longer to start others. */
#define FEW_PROCEDURES 1000

/* The walk through `procedure` stopped at a call of, or a jump to, another procedure, because it is
 * unknown whether that one returns. */
struct stopped_walk {
    uint32_t procedure, stopped_at; /* the other procedure */
    uint32_t next;                  /* in its list; NONE: the last */
    uint64_t continue_at;           /* the address after the call */
    bool is_tail_call;              /* a jump: `procedure` returns if the other one does */
};

/* What a worker finds in a round. Its walks mark the transfers that they reach, so that they need not
 * begin anew in the next one. */
struct walker {
    uint32_t procedure; /* the one that it walks through now */
    VEC(uint64_t) open; /* addresses to continue at */
    VEC(struct stopped_walk) stopped;
    VEC(uint32_t) returned; /* procedures that are known to return now */
    struct landing_pads pads;
};

struct return_analysis {
    struct module_code *code;
    atomic_uchar *states;             /* per procedure: enum return_state */
    struct walker *walkers;           /* per worker */
    VEC(struct stopped_walk) stopped; /* each is in one of these lists */
    uint32_t *first_stopped;          /* per procedure: first walk that stopped at it, or NONE */
    uint32_t *first_ready; /* per procedure: first walk through it that can continue, or NONE */
    VEC(uint32_t) ready;   /* procedures with such walks */
};

static enum return_state state_of(const struct return_analysis *analysis, uint32_t procedure)
{
    return atomic_load_explicit(&analysis->states[procedure], memory_order_relaxed);
}

/* The procedure whose entry is at an address, or NONE. */
static uint32_t procedure_at_entry(const struct module_code *code, uint64_t address)
{
    uint32_t found = procedures_find(&code->procedures, &code->map, address);
    if (found != NONE && code->procedures.all.at[found].entry != address)
        return NONE;
    return found;
}

/* Whether a procedure is known to return. If that is unknown, adds `walk` to those that stopped. */
static bool returns_now(const struct return_analysis *analysis, struct walker *walker,
                        uint32_t procedure, struct stopped_walk walk)
{
    if (procedure == NONE)
        return true;
    enum return_state state = state_of(analysis, procedure);
    if (state == RETURN_UNKNOWN) {
        walk.procedure = walker->procedure;
        walk.stopped_at = procedure;
        vec_push(&walker->stopped, walk);
    }
    return state == RETURNS;
}

/* The index of the first transfer at or after an offset. */
static uint32_t transfer_from(const struct fragment_flow *flow, uint64_t offset)
{
    return (uint32_t)partition_point(i, flow->transfers.n, flow->transfers.at[i].offset < offset);
}

static void continue_at_address(struct walker *walker, uint64_t address)
{
    vec_push(&walker->open, address);
}

static void continue_in_table(struct walker *walker, const struct fragment_flow *flow,
                              const struct transfer *transfer)
{
    const struct jump_table *table = &flow->tables.at[transfer->target];
    for (uint32_t i = 0; i < table->count; i++)
        continue_at_address(walker, flow->targets.at[table->first + i]);
}

/* Follows a transfer; true if the procedure returns by it. */
static bool follow(const struct return_analysis *analysis, struct walker *walker,
                   const struct code_fragment *fragment, const struct fragment_flow *flow,
                   const struct transfer *transfer)
{
    uint64_t next = fragment->begin + transfer->offset + transfer->length;
    switch ((enum transfer_kind)transfer->kind) {
    case TRANSFER_RETURN: return true;
    case TRANSFER_STOP: break;
    case TRANSFER_BRANCH: continue_at_address(walker, next); __attribute__((fallthrough));
    case TRANSFER_JUMP: continue_at_address(walker, transfer_target(fragment, transfer)); break;
    case TRANSFER_JUMP_INDIRECT:
        if (transfer->target == NO_JUMP_TABLE)
            return true;
        continue_in_table(walker, flow, transfer);
        break;
    case TRANSFER_CALL_INDIRECT:
        if (!transfer->never_returns)
            continue_at_address(walker, next);
        break;
    case TRANSFER_CALL: {
        uint32_t callee = procedure_at_entry(analysis->code, transfer_target(fragment, transfer));
        if (returns_now(analysis, walker, callee, (struct stopped_walk){.continue_at = next}))
            continue_at_address(walker, next);
        break;
    }
    }
    return false;
}

/* Continues at an address; true if the procedure returns from there. */
static bool visit(const struct return_analysis *analysis, struct walker *walker, uint64_t address)
{
    const struct module_code *code = analysis->code;
    uint32_t number = code_map_find(&code->map, address);
    if (number == NONE)
        return true;
    const struct code_fragment *fragment = &code->map.fragments.at[number];
    if (code->procedures.of_owner.at[fragment->owner] != walker->procedure)
        return returns_now(analysis, walker, procedure_at_entry(code, address),
                           (struct stopped_walk){.is_tail_call = true});
    struct fragment_flow *flow = &code->flows[number];
    uint32_t index = transfer_from(flow, address - fragment->begin);
    if (index == flow->transfers.n) {
        continue_at_address(walker, fragment->end);
        return false;
    }
    struct transfer *transfer = &flow->transfers.at[index];
    if (transfer->reached)
        return false;
    transfer->reached = true;
    return follow(analysis, walker, fragment, flow, transfer);
}

/* Walks on from the open addresses. */
static void walk_on(const struct return_analysis *analysis, struct walker *walker)
{
    bool returns = false;
    while (!returns && walker->open.n)
        returns = visit(analysis, walker, walker->open.at[--walker->open.n]);
    walker->open.n = 0;
    if (!returns)
        return;
    atomic_store_explicit(&analysis->states[walker->procedure], RETURNS, memory_order_relaxed);
    vec_push(&walker->returned, walker->procedure);
}

static void start_walk(void *context, unsigned worker, size_t procedure)
{
    const struct return_analysis *analysis = context;
    struct walker *walker = &analysis->walkers[worker];
    const struct procedure *walked = &analysis->code->procedures.all.at[procedure];
    if (state_of(analysis, (uint32_t)procedure) != RETURN_UNKNOWN)
        return;
    walker->procedure = (uint32_t)procedure;
    walker->pads.all.n = 0;
    module_code_landing_pads(analysis->code, walked, &walker->pads);
    for (size_t i = 0; i < walker->pads.all.n; i++)
        continue_at_address(walker, walker->pads.all.at[i].address);
    continue_at_address(walker, walked->entry);
    walk_on(analysis, walker);
}

static void continue_walks(void *context, unsigned worker, size_t index)
{
    const struct return_analysis *analysis = context;
    struct walker *walker = &analysis->walkers[worker];
    walker->procedure = analysis->ready.at[index];
    for (uint32_t i = analysis->first_ready[walker->procedure]; i != NONE;
         i = analysis->stopped.at[i].next) {
        const struct stopped_walk *walk = &analysis->stopped.at[i];
        /* UINT64_MAX lies outside all code, which counts as a return. */
        continue_at_address(walker, walk->is_tail_call ? UINT64_MAX : walk->continue_at);
    }
    analysis->first_ready[walker->procedure] = NONE;
    walk_on(analysis, walker);
}

/* ---- rounds ---- */

static void list_stopped(struct return_analysis *analysis, struct walker *walker)
{
    for (size_t i = 0; i < walker->stopped.n; i++) {
        struct stopped_walk walk = walker->stopped.at[i];
        walk.next = analysis->first_stopped[walk.stopped_at];
        analysis->first_stopped[walk.stopped_at] = (uint32_t)analysis->stopped.n;
        vec_push(&analysis->stopped, walk);
    }
    walker->stopped.n = 0;
}

static void make_ready(struct return_analysis *analysis, uint32_t walk)
{
    uint32_t procedure = analysis->stopped.at[walk].procedure;
    if (state_of(analysis, procedure) != RETURN_UNKNOWN)
        return;
    if (analysis->first_ready[procedure] == NONE)
        vec_push(&analysis->ready, procedure);
    analysis->stopped.at[walk].next = analysis->first_ready[procedure];
    analysis->first_ready[procedure] = walk;
}

/* Makes the walks ready that stopped at a procedure which returns. */
static void list_ready(struct return_analysis *analysis, struct walker *walker)
{
    for (size_t i = 0; i < walker->returned.n; i++) {
        uint32_t walk = analysis->first_stopped[walker->returned.at[i]];
        while (walk != NONE) {
            uint32_t next = analysis->stopped.at[walk].next;
            make_ready(analysis, walk);
            walk = next;
        }
    }
    walker->returned.n = 0;
}

/* Lists what the workers found. All stopped walks come first: one may have stopped at a procedure in the
 * round in which another worker found that it returns. */
static void end_round(struct return_analysis *analysis, unsigned workers)
{
    analysis->ready.n = 0;
    for (unsigned i = 0; i < workers; i++)
        list_stopped(analysis, &analysis->walkers[i]);
    for (unsigned i = 0; i < workers; i++)
        list_ready(analysis, &analysis->walkers[i]);
}

static void walk_all(struct return_analysis *analysis, unsigned workers)
{
    parallel_for_many(analysis->code->procedures.all.n, workers, start_walk, analysis);
    for (end_round(analysis, workers); analysis->ready.n; end_round(analysis, workers))
        parallel_for_many(analysis->ready.n, analysis->ready.n < FEW_PROCEDURES ? 1 : workers,
                          continue_walks, analysis);
}

/* ---- the whole ---- */

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
        transfer->never_returns = callee != NONE && state_of(analysis, callee) != RETURNS;
    }
}

static void begin_analysis(struct return_analysis *analysis, struct module_code *code,
                           unsigned workers)
{
    size_t count = code->procedures.all.n;
    *analysis = (struct return_analysis){
        .code = code,
        .states = mem_alloc(count * sizeof *analysis->states),
        .walkers = mem_alloc(workers * sizeof *analysis->walkers),
        .first_stopped = mem_alloc(count * sizeof *analysis->first_stopped),
        .first_ready = mem_alloc(count * sizeof *analysis->first_ready),
    };
    for (size_t i = 0; i < count; i++) {
        const char *name = code->procedures.all.at[i].name;
        analysis->first_stopped[i] = analysis->first_ready[i] = NONE;
        if (name && is_no_return_name(name))
            analysis->states[i] = NEVER_RETURNS;
    }
}

static void end_analysis(struct return_analysis *analysis, unsigned workers)
{
    for (unsigned i = 0; i < workers; i++) {
        vec_free(&analysis->walkers[i].open);
        vec_free(&analysis->walkers[i].stopped);
        vec_free(&analysis->walkers[i].returned);
        vec_free(&analysis->walkers[i].pads.all);
    }
    free(analysis->walkers);
    free(analysis->states);
    free(analysis->first_stopped);
    free(analysis->first_ready);
    vec_free(&analysis->stopped);
    vec_free(&analysis->ready);
}

void mark_calls_that_never_return(struct module_code *code, unsigned workers)
{
    struct return_analysis analysis;
    begin_analysis(&analysis, code, workers);
    walk_all(&analysis, workers);
    parallel_for_many(code->map.fragments.n, workers, mark_calls, &analysis);
    end_analysis(&analysis, workers);
}
