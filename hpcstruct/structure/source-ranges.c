#include "hpcstruct/structure/source-ranges.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <stdlib.h>

/* ---- chains ---- */

void chains_reset(struct chains *chains, const struct debug_info *info)
{
    chains->info = info;
    chains->all.n = 0;
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
    vec_push(&chains->all, (struct chain){.parent = EMPTY_CHAIN});
}

void chains_free(struct chains *chains)
{
    vec_free(&chains->all);
    idmap_free(&chains->ids);
    idmap_free(&chains->of_scope);
}

static uint32_t add(struct chains *chains, uint32_t parent, const struct debug_scope *scope)
{
    uint64_t parent_and_function = (uint64_t)parent << 32 | scope->function;
    uint64_t call_site = (uint64_t)scope->call_file << 32 | scope->call_line;
    uint32_t known = idmap_get(&chains->ids, parent_and_function, call_site);
    if (known != IDMAP_NONE)
        return known;
    const struct chain new = {
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

uint32_t chains_of_scope(struct chains *chains, uint32_t scope)
{
    if (scope == DEBUG_NONE)
        return EMPTY_CHAIN;
    const struct debug_scope *of = &chains->info->scopes.at[scope];
    if (of->parent == DEBUG_NONE)
        return EMPTY_CHAIN;
    uint32_t known = idmap_get(&chains->of_scope, scope, 0);
    if (known == IDMAP_NONE) {
        known = add(chains, chains_of_scope(chains, of->parent), of);
        idmap_put(&chains->of_scope, scope, 0, known);
    }
    return known;
}

uint32_t chains_common(const struct chains *chains, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = chains->all.at[a].parent;
        else
            b = chains->all.at[b].parent;
    }
    return a;
}

uint32_t chains_prefix(const struct chains *chains, uint32_t chain, uint32_t depth)
{
    while (chains->all.at[chain].depth > depth)
        chain = chains->all.at[chain].parent;
    return chain;
}

/* ---- pieces ---- */

/* What the debug information says at an address, and up to where it says the same. */
struct marks {
    const struct debug_info *info;
    struct chains *chains;
    uint32_t line_index, scope_index; /* the marks that apply, or DEBUG_NONE */
};

static struct marks marks_at(const struct debug_info *info, struct chains *chains, uint64_t address)
{
    return (struct marks){info, chains, debug_info_line_index(info, address),
                          debug_info_scope_index(info, address)};
}

/* The next mark's address, at most `end`. DEBUG_NONE + 1 is 0, the first mark. */
static uint64_t next_change(const struct marks *marks, uint64_t end)
{
    const struct debug_info *info = marks->info;
    uint32_t line = marks->line_index + 1, scope = marks->scope_index + 1;
    if (line < info->lines.n && info->lines.at[line].address < end)
        end = info->lines.at[line].address;
    if (scope < info->scope_rows.n && info->scope_rows.at[scope].address < end)
        end = info->scope_rows.at[scope].address;
    return end;
}

static void advance(struct marks *marks, uint64_t address)
{
    const struct debug_info *info = marks->info;
    uint32_t line = marks->line_index + 1, scope = marks->scope_index + 1;
    if (line < info->lines.n && info->lines.at[line].address == address)
        marks->line_index = line;
    if (scope < info->scope_rows.n && info->scope_rows.at[scope].address == address)
        marks->scope_index = scope;
}

static struct piece piece_at(const struct marks *marks, uint64_t begin, uint64_t end, uint32_t loop)
{
    const struct debug_info *info = marks->info;
    struct piece piece = {.begin = begin, .end = end, .loop = loop, .file = DEBUG_NONE};
    if (marks->line_index != DEBUG_NONE) {
        piece.file = info->lines.at[marks->line_index].file;
        piece.line = info->lines.at[marks->line_index].line;
    }
    if (marks->scope_index != DEBUG_NONE)
        piece.chain = chains_of_scope(marks->chains, info->scope_rows.at[marks->scope_index].scope);
    return piece;
}

void pieces_cut(struct pieces *pieces, const struct cfg *cfg, const struct loops *loops,
                const struct debug_info *info, struct chains *chains)
{
    struct marks marks = {.info = info};
    pieces->all.n = 0;
    for (size_t i = 0; i < cfg->blocks.n; i++) {
        const struct block *block = &cfg->blocks.at[i];
        if (i == 0 || cfg->blocks.at[i - 1].end != block->begin)
            marks = marks_at(info, chains, block->begin);
        for (uint64_t at = block->begin; at < block->end;) {
            uint64_t end = next_change(&marks, block->end);
            vec_push(&pieces->all, piece_at(&marks, at, end, loops->of_block.at[i]));
            at = end;
            advance(&marks, at);
        }
    }
}

const struct piece *pieces_at(const struct pieces *pieces, uint64_t address)
{
    return &pieces->all.at[sorted_up_to(&pieces->all, begin, address) - 1];
}
