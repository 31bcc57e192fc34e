#include "hpcstruct/flow/no-return.h"

#include "hpcstruct/elf/names.h"
#include "lib/binary-search.h"

#include <stdlib.h>

enum verdict { VERDICT_UNKNOWN, VERDICT_RETURNS, VERDICT_NEVER };

#define NOBODY UINT32_MAX

/* What becomes of a procedure when it is known that another one returns to it. */
struct waiter {
    uint32_t who;
    uint32_t next;        /* in the list of those that wait for the same procedure, or NOBODY */
    uint64_t continue_at; /* its code there is reached, ... */
    bool returns_too;     /* ... or it jumped to the other, and returns with it */
};

struct search {
    struct module_code *code;
    uint8_t *verdicts; /* per procedure */
    uint32_t *waiting; /* per procedure: first of its waiters, or NOBODY */
    VEC(struct waiter) waiters;
    VEC(uint32_t) released; /* waiters whose procedure is known to return */
    /* The walk through one procedure. Flows that it has reached are marked, so that it never has
     * to start again. */
    uint32_t procedure;
    VEC(uint64_t) open; /* addresses to go on at */
    struct landing_pads pads;
};

/* The procedure whose entry is at an address, or NOBODY. */
static uint32_t procedure_at_entry(const struct module_code *code, uint64_t address)
{
    uint32_t found = procedures_find(&code->procedures, &code->map, address);
    if (found != NOBODY && code->procedures.all.at[found].entry != address)
        return NOBODY;
    return found;
}

/* Whether a procedure is known to return; if that is open, registers who wants to know. */
static bool returns_now(struct search *search, uint32_t procedure, struct waiter waiter)
{
    if (procedure == NOBODY)
        return true;
    if (search->verdicts[procedure] == VERDICT_UNKNOWN) {
        waiter.who = search->procedure;
        waiter.next = search->waiting[procedure];
        search->waiting[procedure] = (uint32_t)search->waiters.n;
        vec_push(&search->waiters, waiter);
    }
    return search->verdicts[procedure] == VERDICT_RETURNS;
}

/* The first flow at or after an offset. */
static uint32_t flow_from(const struct flows *flows, uint64_t offset)
{
    return (uint32_t)partition_point(i, flows->all.n, flows->all.at[i].offset < offset);
}

static void go_on_at(struct search *search, uint64_t address)
{
    vec_push(&search->open, address);
}

static void go_on_in_table(struct search *search, const struct flows *flows,
                           const struct flow *flow)
{
    const struct flow_table *table = &flows->tables.at[flow->target];
    for (uint32_t i = 0; i < table->count; i++)
        go_on_at(search, flows->targets.at[table->first + i]);
}

/* Follows a flow; true when it leads back to the caller of the procedure. */
static bool follow(struct search *search, const struct code_fragment *fragment,
                   const struct flows *flows, const struct flow *flow)
{
    uint64_t next = fragment->begin + flow->offset + flow->length;
    switch ((enum flow_kind)flow->kind) {
    case FLOW_RETURN: return true;
    case FLOW_STOP: break;
    case FLOW_BRANCH:
        go_on_at(search, next); /* and */
        __attribute__((fallthrough));
    case FLOW_JUMP: go_on_at(search, flow_target(fragment, flow)); break;
    case FLOW_JUMP_INDIRECT:
        if (flow->target == FLOW_NO_TABLE)
            return true;
        go_on_in_table(search, flows, flow);
        break;
    case FLOW_CALL_INDIRECT:
        if (!flow->never_returns)
            go_on_at(search, next);
        break;
    case FLOW_CALL: {
        uint32_t callee = procedure_at_entry(search->code, flow_target(fragment, flow));
        if (returns_now(search, callee, (struct waiter){.continue_at = next}))
            go_on_at(search, next);
        break;
    }
    }
    return false;
}

/* Goes on at an address; true when that leads back to the caller of the procedure. */
static bool visit(struct search *search, uint64_t address)
{
    const struct module_code *code = search->code;
    uint32_t number = code_map_find(&code->map, address);
    if (number == NOBODY)
        return true;
    const struct code_fragment *fragment = &code->map.fragments.at[number];
    if (code->procedures.of_owner.at[fragment->owner] != search->procedure)
        return returns_now(search, procedure_at_entry(code, address),
                           (struct waiter){.returns_too = true});
    struct flows *flows = &code->flows[number];
    uint32_t index = flow_from(flows, address - fragment->begin);
    if (index == flows->all.n) {
        go_on_at(search, fragment->end);
        return false;
    }
    struct flow *flow = &flows->all.at[index];
    if (flow->reached)
        return false;
    flow->reached = true;
    return follow(search, fragment, flows, flow);
}

/* Walks from the open addresses; releases those that wait for the procedure when it returns. */
static void walk(struct search *search)
{
    bool returns = false;
    while (!returns && search->open.n)
        returns = visit(search, search->open.at[--search->open.n]);
    search->open.n = 0;
    if (!returns)
        return;
    search->verdicts[search->procedure] = VERDICT_RETURNS;
    for (uint32_t i = search->waiting[search->procedure]; i != NOBODY;
         i = search->waiters.at[i].next)
        vec_push(&search->released, i);
}

static void start_walk(struct search *search, uint32_t procedure)
{
    const struct procedure *walked = &search->code->procedures.all.at[procedure];
    if (search->verdicts[procedure] != VERDICT_UNKNOWN)
        return;
    search->procedure = procedure;
    search->pads.all.n = 0;
    module_code_landing_pads(search->code, walked, &search->pads);
    for (size_t i = 0; i < search->pads.all.n; i++)
        go_on_at(search, search->pads.all.at[i].address);
    go_on_at(search, walked->entry);
    walk(search);
}

static void continue_walk(struct search *search, struct waiter waiter)
{
    search->procedure = waiter.who;
    if (search->verdicts[waiter.who] != VERDICT_UNKNOWN)
        return;
    /* Outside of all code: as good as a return. */
    go_on_at(search, waiter.returns_too ? UINT64_MAX : waiter.continue_at);
    walk(search);
}

static void mark_calls(const struct search *search)
{
    const struct code_map *map = &search->code->map;
    for (size_t i = 0; i < map->fragments.n; i++) {
        struct flows *flows = &search->code->flows[i];
        for (size_t k = 0; k < flows->all.n; k++) {
            struct flow *flow = &flows->all.at[k];
            if (flow->kind != FLOW_CALL)
                continue;
            uint32_t callee =
                procedure_at_entry(search->code, flow_target(&map->fragments.at[i], flow));
            flow->never_returns = callee != NOBODY && search->verdicts[callee] != VERDICT_RETURNS;
        }
    }
}

void mark_calls_that_never_return(struct module_code *code)
{
    size_t count = code->procedures.all.n;
    struct search search = {
        .code = code,
        .verdicts = mem_alloc(count),
        .waiting = mem_alloc(count * sizeof *search.waiting),
    };
    for (size_t i = 0; i < count; i++) {
        const char *name = code->procedures.all.at[i].name;
        search.waiting[i] = NOBODY;
        if (name && is_no_return_name(name))
            search.verdicts[i] = VERDICT_NEVER;
    }
    for (uint32_t i = 0; i < count; i++) {
        start_walk(&search, i);
        while (search.released.n)
            continue_walk(&search, search.waiters.at[search.released.at[--search.released.n]]);
    }
    mark_calls(&search);
    free(search.verdicts);
    free(search.waiting);
    vec_free(&search.waiters);
    vec_free(&search.released);
    vec_free(&search.open);
    vec_free(&search.pads.all);
}
