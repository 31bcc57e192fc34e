#include "hpcstruct/pieces.h"

#include "hpcstruct/sorted.h"

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
    if (scope < info->marks.n && info->marks.at[scope].address < end)
        end = info->marks.at[scope].address;
    return end;
}

static void advance(struct marks *marks, uint64_t address)
{
    const struct debug_info *info = marks->info;
    uint32_t line = marks->line_index + 1, scope = marks->scope_index + 1;
    if (line < info->lines.n && info->lines.at[line].address == address)
        marks->line_index = line;
    if (scope < info->marks.n && info->marks.at[scope].address == address)
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
        piece.chain = chains_of_scope(marks->chains, info->marks.at[marks->scope_index].scope);
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
