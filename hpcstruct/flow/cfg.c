#include "hpcstruct/flow/cfg.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <assert.h>
#include <stdlib.h>

struct cfg_builder {
    struct cfg *cfg;
    const struct module_code *code;
    const struct procedure *procedure;
};

static uint32_t fragment_number(const struct cfg_builder *b, uint32_t i)
{
    return b->code->procedures.fragments.at[b->procedure->first_fragment + i];
}

/* Whether control never continues at the next instruction. */
static bool ends_here(const struct transfer *transfer)
{
    switch ((enum transfer_kind)transfer->kind) {
    case TRANSFER_JUMP:
    case TRANSFER_JUMP_INDIRECT:
    case TRANSFER_RETURN:
    case TRANSFER_STOP: return true;
    case TRANSFER_CALL:
    case TRANSFER_CALL_INDIRECT: return transfer->never_returns;
    case TRANSFER_BRANCH: return false;
    }
    return false;
}

/* ---- blocks ---- */

static void add_leader(struct cfg_builder *b, uint64_t address)
{
    vec_push(&b->cfg->leaders, address);
}

static void find_leaders(struct cfg_builder *b, const struct code_fragment *fragment,
                         const struct fragment_flow *flow)
{
    add_leader(b, fragment->begin);
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        uint64_t after = fragment->begin + transfer->offset + transfer->length;
        bool ends = ends_here(transfer);
        if (transfer->kind == TRANSFER_JUMP || transfer->kind == TRANSFER_BRANCH)
            add_leader(b, transfer_target(fragment, transfer));
        /* Padding belongs to the block before it. */
        if (ends)
            after +=
                padding_length(fragment->bytes + (after - fragment->begin), fragment->end - after);
        if (ends || transfer->kind == TRANSFER_BRANCH)
            add_leader(b, after);
    }
    for (size_t i = 0; i < flow->tables.n; i++)
        for (uint32_t k = 0; k < flow->tables.at[i].count; k++)
            add_leader(b, flow->targets.at[flow->tables.at[i].first + k]);
}

/* Divides a fragment at the leaders, which are sorted. */
static void add_blocks(struct cfg_builder *b, uint32_t number)
{
    const struct code_fragment *fragment = &b->code->map.fragments.at[fragment_number(b, number)];
    const uint64_t *leaders = b->cfg->leaders.at;
    size_t count = b->cfg->leaders.n;
    uint64_t begin = fragment->begin;
    size_t i = partition_point(k, count, leaders[k] <= begin);
    while (begin < fragment->end) {
        while (i < count && leaders[i] <= begin)
            i++;
        uint64_t end = i < count && leaders[i] < fragment->end ? leaders[i] : fragment->end;
        const struct block block = {.begin = begin, .end = end, .last = end, .fragment = number};
        vec_push(&b->cfg->blocks, block);
        begin = end;
    }
}

/* ---- edges ---- */

static uint32_t block_at(const struct cfg *cfg, uint64_t address)
{
    size_t after = sorted_up_to(&cfg->blocks, begin, address);
    if (after == 0 || address >= cfg->blocks.at[after - 1].end)
        return NO_BLOCK;
    return (uint32_t)after - 1;
}

/* Must be called block by block, in the order of the blocks. */
static void add_edge(struct cfg *cfg, struct block *from, uint64_t target)
{
    uint32_t to = block_at(cfg, target);
    if (to == NO_BLOCK) {
        from->leaves = true;
        return;
    }
    assert(from->first_successor + from->successor_count == cfg->successors.n);
    vec_push(&cfg->successors, to);
    from->successor_count++;
}

static void add_table_edges(struct cfg *cfg, struct block *block, const struct fragment_flow *flow,
                            const struct transfer *transfer)
{
    if (transfer->target == NO_JUMP_TABLE)
        return;
    const struct jump_table *table = &flow->tables.at[transfer->target];
    uint32_t last = NO_BLOCK;
    for (uint32_t i = 0; i < table->count; i++) {
        /* The targets are sorted, so that those in one block follow each other. */
        uint32_t to = block_at(cfg, flow->targets.at[table->first + i]);
        if (to == NO_BLOCK || to == last)
            continue;
        vec_push(&cfg->successors, to);
        block->successor_count++;
        last = to;
    }
}

static void add_landing_pad_edge(struct cfg *cfg, struct block *block, uint64_t call)
{
    size_t after = sorted_up_to(&cfg->pads.all, begin, call);
    if (after && call < cfg->pads.all.at[after - 1].end)
        add_edge(cfg, block, cfg->pads.all.at[after - 1].address);
}

/* Adds the edges of the blocks of a fragment. *block_index is its first block, afterwards the first
 * block of the next fragment. */
static void add_edges(struct cfg_builder *b, const struct code_fragment *fragment,
                      const struct fragment_flow *flow, size_t *block_index)
{
    struct cfg *cfg = b->cfg;
    size_t next_transfer = 0;
    for (; *block_index < cfg->blocks.n && cfg->blocks.at[*block_index].begin < fragment->end;
         ++*block_index) {
        struct block *block = &cfg->blocks.at[*block_index];
        block->first_successor = (uint32_t)cfg->successors.n;
        bool falls_through = true;
        for (; next_transfer < flow->transfers.n; next_transfer++) {
            const struct transfer *transfer = &flow->transfers.at[next_transfer];
            uint64_t address = fragment->begin + transfer->offset;
            if (address >= block->end)
                break;
            bool ends = ends_here(transfer);
            if (transfer->kind == TRANSFER_CALL || transfer->kind == TRANSFER_CALL_INDIRECT)
                add_landing_pad_edge(cfg, block, address);
            if (ends || transfer->kind == TRANSFER_BRANCH)
                block->last = address;
            if (transfer->kind == TRANSFER_JUMP || transfer->kind == TRANSFER_BRANCH)
                add_edge(cfg, block, transfer_target(fragment, transfer));
            if (transfer->kind == TRANSFER_JUMP_INDIRECT)
                add_table_edges(cfg, block, flow, transfer);
            falls_through = !ends;
        }
        if (falls_through)
            add_edge(cfg, block, block->end);
    }
}

/* ---- the whole ---- */

static int by_begin(const void *a, const void *b)
{
    const struct landing_pad *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static void find_landing_pads(struct cfg_builder *b)
{
    struct cfg *cfg = b->cfg;
    module_code_landing_pads(b->code, b->procedure, &cfg->pads);
    vec_sort(&cfg->pads.all, by_begin);
    for (size_t i = 0; i < cfg->pads.all.n; i++)
        add_leader(b, cfg->pads.all.at[i].address);
}

void cfg_build(struct cfg *cfg, const struct module_code *code, const struct procedure *procedure)
{
    struct cfg_builder b = {cfg, code, procedure};
    cfg->blocks.n = cfg->successors.n = cfg->leaders.n = cfg->pads.all.n = 0;
    find_landing_pads(&b);
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = fragment_number(&b, i);
        find_leaders(&b, &code->map.fragments.at[number], &code->flows[number]);
    }
    sort_addresses(cfg->leaders.at, cfg->leaders.n);
    for (uint32_t i = 0; i < procedure->fragment_count; i++)
        add_blocks(&b, i);
    size_t block = 0;
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = fragment_number(&b, i);
        add_edges(&b, &code->map.fragments.at[number], &code->flows[number], &block);
    }
    cfg->entry = block_at(cfg, procedure->entry);
}

void cfg_free(struct cfg *cfg)
{
    vec_free(&cfg->blocks);
    vec_free(&cfg->successors);
    vec_free(&cfg->leaders);
    vec_free(&cfg->pads.all);
}
