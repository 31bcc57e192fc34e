#include "hpcstruct/structure/procedure-scopes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nests do not come from source code; the loops below count as one. */
#define MAX_LOOP_DEPTH 60

/* The ends of the lists that begin in a scope. */
struct list_ends {
    uint32_t last_child; /* or NO_SCOPE */
    uint32_t last_range; /* or NO_RANGE */
};

struct scope_builder {
    struct cfg cfg;
    struct loops loops;
    struct construct_regions constructs;
    struct inline_chains chains;
    struct source_ranges source_ranges;
    struct loop_locations locations;
    VEC(uint32_t) merged_into;   /* per loop: the loop that it is shown as; mostly itself */
    VEC(uint32_t) scope_of_loop; /* per loop, or NO_SCOPE */
    VEC(bool) pauses;            /* per loop that is shown: it has a `pause` of its own */
    struct idmap scope_of_chain; /* (loop, chain) -> scope */
    struct idmap statements;     /* (scope and file, line) -> scope */
    VEC(struct scope) scopes;
    VEC(struct list_ends) list_ends; /* per scope */
    VEC(struct statement_range) statement_ranges;
};

struct scope_builder *scope_builder_new(void)
{
    return mem_alloc(sizeof(struct scope_builder));
}

void scope_builder_free(struct scope_builder *b)
{
    cfg_free(&b->cfg);
    loops_free(&b->loops);
    construct_regions_free(&b->constructs);
    inline_chains_free(&b->chains);
    vec_free(&b->source_ranges.all);
    loop_locations_free(&b->locations);
    vec_free(&b->merged_into);
    vec_free(&b->scope_of_loop);
    vec_free(&b->pauses);
    idmap_free(&b->scope_of_chain);
    idmap_free(&b->statements);
    vec_free(&b->scopes);
    vec_free(&b->list_ends);
    vec_free(&b->statement_ranges);
    free(b);
}

/* ---- loops of the source ---- */

/* Whether two loops, one directly in the other, are one loop of the source. There are two such
 * cases:
 *
 * - A loop with several `continue` may be compiled to a nest in which each way back has a header of
 * its own. These headers have one line; other loops do not share a line.
 * - An irreducible loop has the entry that the traversal reached first as its header. The rest of
 * it has entries, too, so that it is another loop, and so on: an interpreter in which every
 * operation jumps to every other one would be a nest as deep as it has operations. */
static bool is_one_loop(const struct scope_builder *b, uint32_t inner, uint32_t outer)
{
    const struct loop_location *x = &b->locations.all.at[inner], *y = &b->locations.all.at[outer];
    bool at_one_line = x->line != 0 && x->line == y->line && x->file == y->file;
    bool are_irreducible = b->loops.all.at[inner].irreducible && b->loops.all.at[outer].irreducible;
    return x->chain == y->chain && (at_one_line || are_irreducible);
}

static void merge_loops(struct scope_builder *b)
{
    autofree VEC(uint32_t) depths = {0};
    b->merged_into.n = 0;
    for (uint32_t i = 0; i < b->loops.all.n; i++) {
        uint32_t parent = b->loops.all.at[i].parent, shown = i, depth = 1;
        if (parent != NO_LOOP) {
            uint32_t outer = b->merged_into.at[parent];
            depth = depths.at[parent] + 1;
            if (depth > MAX_LOOP_DEPTH || is_one_loop(b, i, outer)) {
                shown = outer;
                depth--;
            }
        }
        vec_push(&b->merged_into, shown);
        vec_push(&depths, depth);
    }
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
            const struct source_range *range =
                source_range_at(&b->source_ranges, begin + flow->pauses.at[k]);
            if (range->loop != NO_LOOP)
                b->pauses.at[b->merged_into.at[range->loop]] = true;
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
    vec_push(&b->list_ends, (struct list_ends){NO_SCOPE, NO_RANGE});
    if (parent == NO_SCOPE)
        return number;
    struct list_ends *ends = &b->list_ends.at[parent];
    if (ends->last_child == NO_SCOPE)
        b->scopes.at[parent].first_child = number;
    else
        b->scopes.at[ends->last_child].next = number;
    ends->last_child = number;
    return number;
}

static uint32_t scope_for(struct scope_builder *b, uint32_t loop, uint32_t chain);

static uint32_t scope_for_loop(struct scope_builder *b, uint32_t loop)
{
    if (loop == NO_LOOP)
        return 0;
    if (b->scope_of_loop.at[loop] != NO_SCOPE)
        return b->scope_of_loop.at[loop];
    const struct loop_location *location = &b->locations.all.at[loop];
    const struct loop *of = &b->loops.all.at[loop];
    uint32_t around = of->parent == NO_LOOP ? NO_LOOP : b->merged_into.at[of->parent];
    const struct scope scope = {
        .kind = SCOPE_LOOP,
        .file = location->file,
        .line = location->line,
        .address = b->cfg.blocks.at[of->header].begin,
        .irreducible = of->irreducible,
        .pauses = b->pauses.at[loop],
    };
    uint32_t number = add_scope(b, scope_for(b, around, location->chain), scope);
    b->scope_of_loop.at[loop] = number;
    return number;
}

/* The scope of code with this chain in a loop that is shown, or in no loop (NO_LOOP). */
static uint32_t scope_for(struct scope_builder *b, uint32_t loop, uint32_t chain)
{
    uint32_t loop_chain = loop == NO_LOOP ? EMPTY_CHAIN : b->locations.all.at[loop].chain;
    /* The loop lies inside the calls of its own chain. Code of callers in the loop is shown in the
     * loop. */
    if (inline_chains_common(&b->chains, loop_chain, chain) == chain)
        return scope_for_loop(b, loop);
    uint32_t known = idmap_get(&b->scope_of_chain, loop, chain);
    if (known != IDMAP_NONE)
        return known;
    const struct inline_chain *of = &b->chains.all.at[chain];
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

static uint32_t scope_for_range(struct scope_builder *b, const struct source_range *range)
{
    uint32_t loop = range->loop == NO_LOOP ? NO_LOOP : b->merged_into.at[range->loop];
    return scope_for(b, loop, range->chain);
}

static void add_range(struct scope_builder *b, uint32_t statement, uint64_t begin, uint64_t end)
{
    assert(begin < end);
    struct list_ends *ends = &b->list_ends.at[statement];
    if (ends->last_range != NO_RANGE && b->statement_ranges.at[ends->last_range].end == begin) {
        b->statement_ranges.at[ends->last_range].end = end;
        return;
    }
    uint32_t number = (uint32_t)b->statement_ranges.n;
    vec_push(&b->statement_ranges, (struct statement_range){begin, end, NO_RANGE});
    if (ends->last_range == NO_RANGE)
        b->scopes.at[statement].first_range = number;
    else
        b->statement_ranges.at[ends->last_range].next = number;
    ends->last_range = number;
}

static void add_statement(struct scope_builder *b, const struct source_range *range)
{
    uint32_t around = scope_for_range(b, range);
    uint64_t scope_and_file = (uint64_t)around << 32 | range->file;
    uint32_t statement = idmap_get(&b->statements, scope_and_file, range->line);
    if (statement == IDMAP_NONE) {
        const struct scope scope = {
            .kind = SCOPE_STATEMENT, .file = range->file, .line = range->line};
        statement = add_scope(b, around, scope);
        idmap_put(&b->statements, scope_and_file, range->line, statement);
    }
    add_range(b, statement, range->begin, range->end);
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
            const struct source_range *range = source_range_at(&b->source_ranges, address);
            const struct scope scope = {
                .kind = SCOPE_CALL,
                .file = range->file,
                .line = range->line,
                .address = address,
                .target = transfer->kind == TRANSFER_CALL ? transfer_target(fragment, transfer)
                                                          : NO_TARGET,
                .length = transfer->length,
            };
            add_scope(b, scope_for_range(b, range), scope);
        }
    }
}

static void reset_tree(struct scope_builder *b)
{
    b->scopes.n = b->list_ends.n = b->statement_ranges.n = 0;
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
    inline_chains_reset(&b->chains, sources->info);
    construct_regions_find(&b->constructs, &b->cfg, sources->constructs);
    source_ranges_find(&b->source_ranges, &b->cfg, &b->loops, &b->constructs, sources->info,
                       &b->chains);
    const struct loop_context context = {
        .cfg = &b->cfg,
        .loops = &b->loops,
        .ranges = &b->source_ranges,
        .chains = &b->chains,
        .tagged = sources->tagged,
        .procedure_file = file,
    };
    loop_locations_find(&b->locations, &context);
    merge_loops(b);
    const struct line_context lines = {
        .chains = &b->chains,
        .shown_loop = b->merged_into.at,
        .tagged = sources->tagged,
        .procedure_file = file,
    };
    source_ranges_fill_lines(&b->source_ranges, &lines);
    find_pauses(b, sources->code, procedure);
    reset_tree(b);
    for (size_t i = 0; i < b->source_ranges.all.n; i++)
        add_statement(b, &b->source_ranges.all.at[i]);
    if (sources->with_calls)
        add_calls(b, sources->code, procedure);
    return (struct procedure_scopes){
        .scopes = copy(b->scopes.at, b->scopes.n, sizeof *b->scopes.at),
        .ranges =
            copy(b->statement_ranges.at, b->statement_ranges.n, sizeof *b->statement_ranges.at),
        .scope_count = (uint32_t)b->scopes.n,
        .range_count = (uint32_t)b->statement_ranges.n,
        .is_too_complex = b->loops.is_too_complex,
    };
}

void procedure_scopes_free(struct procedure_scopes *scopes)
{
    free(scopes->scopes);
    free(scopes->ranges);
}
