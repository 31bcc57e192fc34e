#include "hpcstruct/structure/source-ranges.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <assert.h>
#include <stdlib.h>

/* ---- chains ---- */

void inline_chains_reset(struct inline_chains *chains, const struct debug_info *info)
{
    chains->info = info;
    chains->all.n = 0;
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
    vec_push(&chains->all, (struct inline_chain){.parent = EMPTY_CHAIN});
}

void inline_chains_free(struct inline_chains *chains)
{
    vec_free(&chains->all);
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
}

static uint32_t add(struct inline_chains *chains, uint32_t parent, const struct debug_scope *scope)
{
    uint64_t parent_and_function = (uint64_t)parent << 32 | scope->function;
    uint64_t call_site = (uint64_t)scope->call_file << 32 | scope->call_line;
    uint32_t known = idmap_get(&chains->ids, parent_and_function, call_site);
    if (known != IDMAP_NONE)
        return known;
    const struct inline_chain new = {
        .parent = parent,
        .depth = chains->all.at[parent].depth + 1,
        .function = scope->function,
        .call_file = scope->call_file,
        .call_line = scope->call_line,
    };
    idmap_put(&chains->ids, parent_and_function, call_site, (uint32_t)chains->all.n);
    vec_push(&chains->all, new);
    return (uint32_t)chains->all.n - 1;
}

uint32_t inline_chains_of_scope(struct inline_chains *chains, uint32_t scope)
{
    if (scope == DEBUG_NONE)
        return EMPTY_CHAIN;
    assert(scope < chains->info->scopes.n);
    const struct debug_scope *of = &chains->info->scopes.at[scope];
    if (of->parent == DEBUG_NONE)
        return EMPTY_CHAIN;
    uint32_t known = idmap_get(&chains->of_scope, scope, 0);
    if (known == IDMAP_NONE) {
        known = add(chains, inline_chains_of_scope(chains, of->parent), of);
        idmap_put(&chains->of_scope, scope, 0, known);
    }
    return known;
}

uint32_t inline_chains_common(const struct inline_chains *chains, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = chains->all.at[a].parent;
        else
            b = chains->all.at[b].parent;
    }
    return a;
}

uint32_t inline_chains_prefix(const struct inline_chains *chains, uint32_t chain, uint32_t depth)
{
    assert(chains->all.at[chain].depth >= depth);
    while (chains->all.at[chain].depth > depth)
        chain = chains->all.at[chain].parent;
    return chain;
}

/* ---- constructs in chains ---- */

/* The chain of the debug information at an address. */
static uint32_t chain_of_code(struct inline_chains *chains, const struct debug_info *info,
                              uint64_t address)
{
    uint32_t row = debug_info_scope_index(info, address);
    return row == DEBUG_NONE ? EMPTY_CHAIN
                             : inline_chains_of_scope(chains, info->scope_rows.at[row].scope);
}

static uint32_t add_construct(struct inline_chains *chains, uint32_t chain, uint32_t function)
{
    const struct debug_function *construct = &chains->info->functions.at[function];
    const struct debug_scope scope = {
        .function = function, .call_file = construct->file, .call_line = construct->line};
    return add(chains, chain, &scope);
}

/* Adds the constructs around an address that begin with `depth` calls of its chain around them. */
static uint32_t add_constructs(struct inline_chains *chains, uint32_t to, uint32_t chain,
                               uint32_t depth, const struct construct_regions *constructs,
                               uint64_t address)
{
    for (uint32_t i = 0; i < constructs->all.n; i++) {
        const struct construct_call *begin = constructs->all.at[i].call;
        if (!construct_region_contains(constructs, i, address))
            continue;
        uint32_t around = chain_of_code(chains, chains->info, begin->address);
        uint32_t common = inline_chains_common(chains, around, chain);
        if (chains->all.at[common].depth == depth)
            to = add_construct(chains, to, begin->function);
    }
    return to;
}

/* The chain of code at an address, with the constructs around it. */
static uint32_t chain_with_constructs(struct inline_chains *chains, uint32_t chain,
                                      const struct construct_regions *constructs, uint64_t address)
{
    uint32_t to = EMPTY_CHAIN, calls = chains->all.at[chain].depth;
    for (uint32_t depth = 0; depth <= calls; depth++) {
        if (depth) {
            const struct inline_chain *call =
                &chains->all.at[inline_chains_prefix(chains, chain, depth)];
            const struct debug_scope scope = {.function = call->function,
                                              .call_file = call->call_file,
                                              .call_line = call->call_line};
            to = add(chains, to, &scope);
        }
        to = add_constructs(chains, to, chain, depth, constructs, address);
    }
    return to;
}

/* ---- ranges ---- */

/* The rows of the debug information that apply at an address. */
struct position {
    const struct debug_info *info;
    struct inline_chains *chains;
    const struct construct_regions *constructs;
    uint32_t line_index, scope_index; /* in info->lines and info->scope_rows, or DEBUG_NONE */
};

static void move_to(struct position *position, uint64_t address)
{
    position->line_index = debug_info_line_index(position->info, address);
    position->scope_index = debug_info_scope_index(position->info, address);
}

/* The next address behind `at` with other rows or constructs, at most `end`. (DEBUG_NONE + 1 is 0,
 * the first row.) */
static uint64_t next_change(const struct position *position, uint64_t at, uint64_t end)
{
    const struct debug_info *info = position->info;
    const struct construct_regions *constructs = position->constructs;
    size_t bound = partition_point(i, constructs->bounds.n, constructs->bounds.at[i] <= at);
    if (bound < constructs->bounds.n && constructs->bounds.at[bound] < end)
        end = constructs->bounds.at[bound];
    uint32_t line = position->line_index + 1, scope = position->scope_index + 1;
    if (line < info->lines.n && info->lines.at[line].address < end)
        end = info->lines.at[line].address;
    if (scope < info->scope_rows.n && info->scope_rows.at[scope].address < end)
        end = info->scope_rows.at[scope].address;
    return end;
}

static void advance(struct position *position, uint64_t address)
{
    const struct debug_info *info = position->info;
    uint32_t line = position->line_index + 1, scope = position->scope_index + 1;
    if (line < info->lines.n && info->lines.at[line].address == address)
        position->line_index = line;
    if (scope < info->scope_rows.n && info->scope_rows.at[scope].address == address)
        position->scope_index = scope;
}

static struct source_range range_at(const struct position *position, uint64_t begin, uint64_t end,
                                    uint32_t loop)
{
    const struct debug_info *info = position->info;
    struct source_range range = {.begin = begin, .end = end, .loop = loop, .file = DEBUG_NONE};
    if (position->line_index != DEBUG_NONE) {
        range.file = info->lines.at[position->line_index].file;
        range.line = info->lines.at[position->line_index].line;
    }
    if (position->scope_index != DEBUG_NONE)
        range.chain = inline_chains_of_scope(position->chains,
                                             info->scope_rows.at[position->scope_index].scope);
    if (position->constructs->all.n)
        range.chain =
            chain_with_constructs(position->chains, range.chain, position->constructs, begin);
    return range;
}

void source_ranges_find(struct source_ranges *ranges, const struct cfg *cfg,
                        const struct loops *loops, const struct construct_regions *constructs,
                        const struct debug_info *info, struct inline_chains *chains)
{
    struct position position = {.info = info, .chains = chains, .constructs = constructs};
    ranges->all.n = 0;
    for (size_t i = 0; i < cfg->blocks.n; i++) {
        const struct block *block = &cfg->blocks.at[i];
        if (i == 0 || cfg->blocks.at[i - 1].end != block->begin)
            move_to(&position, block->begin);
        for (uint64_t at = block->begin; at < block->end;) {
            uint64_t end = next_change(&position, at, block->end);
            vec_push(&ranges->all, range_at(&position, at, end, loops->of_block.at[i]));
            at = end;
            advance(&position, at);
        }
    }
}

/* ---- lines of line 0 ---- */

static uint32_t file_of_scope(const struct line_context *context, const struct source_range *range)
{
    if (range->chain == EMPTY_CHAIN)
        return context->procedure_file;
    const struct inline_chains *chains = context->chains;
    return chains->info->functions.at[chains->all.at[range->chain].function].file;
}

static bool may_give_line(const struct line_context *context, const struct source_range *range)
{
    return range->line && range->file != DEBUG_NONE && !context->tagged[range->file] &&
           range->file == file_of_scope(context, range);
}

static bool needs_line(const struct line_context *context, const struct source_range *range)
{
    return range->line == 0 && range->file != DEBUG_NONE && !context->tagged[range->file];
}

/* The last range of the scope of ranges.at[i] in `last_of_scope` that may give a line, or
 * IDMAP_NONE. Records ranges.at[i] there if it may give one. */
static uint32_t last_line_of_scope(struct idmap *last_of_scope, const struct line_context *context,
                                   const struct source_ranges *ranges, size_t i)
{
    const struct source_range *range = &ranges->all.at[i];
    uint32_t loop = range->loop == NO_LOOP ? NO_LOOP : context->shown_loop[range->loop];
    if (may_give_line(context, range))
        idmap_put(last_of_scope, loop, range->chain, (uint32_t)i);
    else if (needs_line(context, range))
        return idmap_get(last_of_scope, loop, range->chain);
    return IDMAP_NONE;
}

static void take_nearest_line(struct source_ranges *ranges, size_t i, uint32_t before,
                              uint32_t after)
{
    struct source_range *range = &ranges->all.at[i];
    if (before != IDMAP_NONE && after != IDMAP_NONE &&
        ranges->all.at[after].begin - range->end < range->begin - ranges->all.at[before].end)
        before = IDMAP_NONE;
    uint32_t nearest = before != IDMAP_NONE ? before : after;
    if (nearest == IDMAP_NONE)
        return;
    range->file = ranges->all.at[nearest].file;
    range->line = ranges->all.at[nearest].line;
}

void source_ranges_fill_lines(struct source_ranges *ranges, const struct line_context *context)
{
    struct idmap before = {0}, after = {0}; /* (loop, chain) -> range */
    VEC(uint32_t) nearest_before = {0};     /* per range */
    bool any = false;
    for (size_t i = 0; i < ranges->all.n && !any; i++)
        any = needs_line(context, &ranges->all.at[i]);
    if (!any)
        return;
    for (size_t i = 0; i < ranges->all.n; i++)
        vec_push(&nearest_before, last_line_of_scope(&before, context, ranges, i));
    for (size_t i = ranges->all.n; i-- > 0;) {
        uint32_t nearest_after = last_line_of_scope(&after, context, ranges, i);
        if (needs_line(context, &ranges->all.at[i]))
            take_nearest_line(ranges, i, nearest_before.at[i], nearest_after);
    }
    idmap_free(&before);
    idmap_free(&after);
    vec_free(&nearest_before);
}

const struct source_range *source_range_at(const struct source_ranges *ranges, uint64_t address)
{
    size_t after = sorted_up_to(&ranges->all, begin, address);
    assert(after && address < ranges->all.at[after - 1].end);
    return &ranges->all.at[after - 1];
}
