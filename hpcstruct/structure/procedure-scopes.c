#include "hpcstruct/structure/procedure-scopes.h"

#include <stdlib.h>
#include <string.h>

/* A nest that is deeper does not come from a source; its inner loops count as one. */
#define MAX_LOOP_DEPTH 60

/* Where the list of a scope's children ends. */
struct tail {
    uint32_t last_child; /* or NO_SCOPE */
    uint32_t last_range; /* or NO_RANGE */
};

struct scope_builder {
    struct cfg cfg;
    struct loops loops;
    struct chains chains;
    struct pieces pieces;
    struct loop_places places;
    VEC(uint32_t) stands_for;    /* per loop: the loop that it is shown as */
    VEC(uint32_t) scope_of_loop; /* per loop, or NO_SCOPE */
    VEC(bool) pauses;            /* per loop that is shown: it has a `pause` of its own */
    struct idmap scope_of_chain; /* (loop, chain) -> scope */
    struct idmap statements;     /* (scope and file, line) -> scope */
    VEC(struct scope) scopes;
    VEC(struct tail) tails; /* per scope */
    VEC(struct scope_range_link) ranges;
};

struct scope_builder *scope_builder_new(void)
{
    return mem_alloc(sizeof(struct scope_builder));
}

void scope_builder_free(struct scope_builder *b)
{
    cfg_free(&b->cfg);
    loops_free(&b->loops);
    chains_free(&b->chains);
    vec_free(&b->pieces.all);
    loop_places_free(&b->places);
    vec_free(&b->stands_for);
    vec_free(&b->scope_of_loop);
    vec_free(&b->pauses);
    idmap_free(&b->scope_of_chain);
    idmap_free(&b->statements);
    vec_free(&b->scopes);
    vec_free(&b->tails);
    vec_free(&b->ranges);
    free(b);
}

/* ---- which loops are shown ---- */

/* Whether two loops, one directly in the other, are one loop of the source.
 *
 * A loop that is continued from several places may come as a nest: each way back has a header of
 * its own. Those stand at one line, as only loops that share a line do otherwise. And a loop with
 * several entries is named by the entry that the search came to first; the rest of it, which has
 * entries still, is a loop again, and so on: an interpreter whose every operation jumps to every
 * other would be a nest as deep as it has operations. */
static bool is_one_loop(const struct scope_builder *b, uint32_t inner, uint32_t outer)
{
    const struct loop_place *x = &b->places.all.at[inner], *y = &b->places.all.at[outer];
    bool at_one_line = x->line != 0 && x->line == y->line && x->file == y->file;
    bool have_entries = b->loops.all.at[inner].irreducible && b->loops.all.at[outer].irreducible;
    return x->chain == y->chain && (at_one_line || have_entries);
}

static void choose_loops(struct scope_builder *b)
{
    VEC(uint32_t) depths = {0};
    b->stands_for.n = 0;
    for (uint32_t i = 0; i < b->loops.all.n; i++) {
        uint32_t parent = b->loops.all.at[i].parent, shown = i, depth = 1;
        if (parent != NO_LOOP) {
            uint32_t outer = b->stands_for.at[parent];
            depth = depths.at[parent] + 1;
            if (depth > MAX_LOOP_DEPTH || is_one_loop(b, i, outer)) {
                shown = outer;
                depth--;
            }
        }
        vec_push(&b->stands_for, shown);
        vec_push(&depths, depth);
    }
    vec_free(&depths);
}

static void find_pauses(struct scope_builder *b, const struct module_code *code,
                        const struct procedure *procedure)
{
    b->pauses.n = 0;
    for (size_t i = 0; i < b->loops.all.n; i++)
        vec_push(&b->pauses, false);
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[procedure->first_fragment + i];
        const struct fragment_flow *flow = &code->flows[number];
        uint64_t begin = code->map.fragments.at[number].begin;
        for (size_t k = 0; k < flow->pauses.n; k++) {
            const struct piece *piece = pieces_at(&b->pieces, begin + flow->pauses.at[k]);
            if (piece->loop != NO_LOOP)
                b->pauses.at[b->stands_for.at[piece->loop]] = true;
        }
    }
}

/* ---- the tree ---- */

static uint32_t add_scope(struct scope_builder *b, uint32_t parent, struct scope scope)
{
    uint32_t number = (uint32_t)b->scopes.n;
    scope.first_child = scope.next = NO_SCOPE;
    scope.first_range = NO_RANGE;
    vec_push(&b->scopes, scope);
    vec_push(&b->tails, (struct tail){NO_SCOPE, NO_RANGE});
    if (parent == NO_SCOPE)
        return number;
    struct tail *tail = &b->tails.at[parent];
    if (tail->last_child == NO_SCOPE)
        b->scopes.at[parent].first_child = number;
    else
        b->scopes.at[tail->last_child].next = number;
    tail->last_child = number;
    return number;
}

static uint32_t scope_for(struct scope_builder *b, uint32_t loop, uint32_t chain);

static uint32_t scope_for_loop(struct scope_builder *b, uint32_t loop)
{
    if (loop == NO_LOOP)
        return 0;
    if (b->scope_of_loop.at[loop] != NO_SCOPE)
        return b->scope_of_loop.at[loop];
    const struct loop_place *place = &b->places.all.at[loop];
    const struct loop *of = &b->loops.all.at[loop];
    uint32_t around = of->parent == NO_LOOP ? NO_LOOP : b->stands_for.at[of->parent];
    const struct scope scope = {
        .kind = SCOPE_LOOP,
        .file = place->file,
        .line = place->line,
        .address = b->cfg.blocks.at[of->header].begin,
        .pauses = b->pauses.at[loop],
    };
    uint32_t number = add_scope(b, scope_for(b, around, place->chain), scope);
    b->scope_of_loop.at[loop] = number;
    return number;
}

/* The scope of code of a chain in a loop (that is shown) or, NO_LOOP, in none. */
static uint32_t scope_for(struct scope_builder *b, uint32_t loop, uint32_t chain)
{
    uint32_t loop_chain = loop == NO_LOOP ? EMPTY_CHAIN : b->places.all.at[loop].chain;
    /* The loop is inside of the functions of its own chain; strays are shown in the loop. */
    if (chains_common(&b->chains, loop_chain, chain) == chain)
        return scope_for_loop(b, loop);
    uint32_t known = idmap_get(&b->scope_of_chain, loop, chain);
    if (known != IDMAP_NONE)
        return known;
    const struct chain *of = &b->chains.all.at[chain];
    const struct scope scope = {
        .kind = SCOPE_INLINED,
        .function = of->function,
        .file = of->call_file,
        .line = of->call_line,
    };
    uint32_t number = add_scope(b, scope_for(b, loop, of->parent), scope);
    idmap_put(&b->scope_of_chain, loop, chain, number);
    return number;
}

static uint32_t scope_for_piece(struct scope_builder *b, const struct piece *piece)
{
    uint32_t loop = piece->loop == NO_LOOP ? NO_LOOP : b->stands_for.at[piece->loop];
    return scope_for(b, loop, piece->chain);
}

static void add_range(struct scope_builder *b, uint32_t statement, uint64_t begin, uint64_t end)
{
    struct tail *tail = &b->tails.at[statement];
    if (tail->last_range != NO_RANGE && b->ranges.at[tail->last_range].end == begin) {
        b->ranges.at[tail->last_range].end = end;
        return;
    }
    uint32_t number = (uint32_t)b->ranges.n;
    vec_push(&b->ranges, (struct scope_range_link){begin, end, NO_RANGE});
    if (tail->last_range == NO_RANGE)
        b->scopes.at[statement].first_range = number;
    else
        b->ranges.at[tail->last_range].next = number;
    tail->last_range = number;
}

static void add_statement(struct scope_builder *b, const struct piece *piece)
{
    uint32_t around = scope_for_piece(b, piece);
    uint64_t scope_and_file = (uint64_t)around << 32 | piece->file;
    uint32_t statement = idmap_get(&b->statements, scope_and_file, piece->line);
    if (statement == IDMAP_NONE) {
        const struct scope scope = {
            .kind = SCOPE_STATEMENT, .file = piece->file, .line = piece->line};
        statement = add_scope(b, around, scope);
        idmap_put(&b->statements, scope_and_file, piece->line, statement);
    }
    add_range(b, statement, piece->begin, piece->end);
}

static void add_calls(struct scope_builder *b, const struct module_code *code,
                      const struct procedure *procedure)
{
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[procedure->first_fragment + i];
        const struct code_fragment *fragment = &code->map.fragments.at[number];
        const struct fragment_flow *flow = &code->flows[number];
        for (size_t k = 0; k < flow->transfers.n; k++) {
            const struct transfer *transfer = &flow->transfers.at[k];
            if (transfer->kind != TRANSFER_CALL && transfer->kind != TRANSFER_CALL_INDIRECT)
                continue;
            uint64_t address = fragment->begin + transfer->offset;
            const struct piece *piece = pieces_at(&b->pieces, address);
            const struct scope scope = {
                .kind = SCOPE_CALL,
                .file = piece->file,
                .line = piece->line,
                .address = address,
                .target = transfer->kind == TRANSFER_CALL ? transfer_target(fragment, transfer)
                                                          : NO_TARGET,
                .length = transfer->length,
            };
            add_scope(b, scope_for_piece(b, piece), scope);
        }
    }
}

static void reset_tree(struct scope_builder *b)
{
    b->scopes.n = b->tails.n = b->ranges.n = 0;
    idmap_free(&b->scope_of_chain);
    idmap_free(&b->statements);
    b->scope_of_loop.n = 0;
    for (size_t i = 0; i < b->loops.all.n; i++)
        vec_push(&b->scope_of_loop, NO_SCOPE);
    add_scope(b, NO_SCOPE, (struct scope){.kind = SCOPE_PROCEDURE});
}

static void *copy(const void *from, size_t count, size_t size)
{
    void *to = mem_alloc(count * size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

struct procedure_scopes procedure_scopes_build(struct scope_builder *b,
                                               const struct scope_sources *sources,
                                               const struct procedure *procedure, uint32_t file)
{
    cfg_build(&b->cfg, sources->code, procedure);
    loops_find(&b->loops, &b->cfg);
    chains_reset(&b->chains, sources->info);
    pieces_cut(&b->pieces, &b->cfg, &b->loops, sources->info, &b->chains);
    const struct loop_context context = {
        .cfg = &b->cfg,
        .loops = &b->loops,
        .pieces = &b->pieces,
        .chains = &b->chains,
        .tagged = sources->tagged,
        .procedure_file = file,
    };
    loops_place(&b->places, &context);
    choose_loops(b);
    find_pauses(b, sources->code, procedure);
    reset_tree(b);
    for (size_t i = 0; i < b->pieces.all.n; i++)
        add_statement(b, &b->pieces.all.at[i]);
    if (sources->with_calls)
        add_calls(b, sources->code, procedure);
    return (struct procedure_scopes){
        .scopes = copy(b->scopes.at, b->scopes.n, sizeof *b->scopes.at),
        .ranges = copy(b->ranges.at, b->ranges.n, sizeof *b->ranges.at),
        .scope_count = (uint32_t)b->scopes.n,
        .range_count = (uint32_t)b->ranges.n,
    };
}

void procedure_scopes_free(struct procedure_scopes *scopes)
{
    free(scopes->scopes);
    free(scopes->ranges);
}
