#include "hpcstruct/structure/construct-regions.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <stdlib.h>
#include <string.h>

/* A procedure with more has no constructs: they do not come from source code, and would take long. */
#define MAX_REGIONS 64
#define MAX_RANGES  4096

struct region_search {
    struct construct_regions *regions;
    const struct cfg *cfg;
    const struct construct_calls *calls;
};

/* ---- walks ---- */

static void reset_walk(struct region_search *search)
{
    struct construct_regions *regions = search->regions;
    regions->open.n = regions->seen.n = 0;
    for (size_t i = 0; i < search->cfg->blocks.n; i++)
        vec_push(&regions->seen, false);
}

static void open_successors(struct region_search *search, const struct block *block, uint32_t depth)
{
    struct construct_regions *regions = search->regions;
    for (uint32_t i = 0; i < block->successor_count; i++) {
        uint32_t next = search->cfg->successors.at[block->first_successor + i];
        if (!regions->seen.at[next]) {
            regions->seen.at[next] = true;
            vec_push(&regions->open, (struct open_block){next, depth});
        }
    }
}

/* The part of a block from an address on that is in the construct: its end. *depth is counted on; it
 * is 0 if the construct ends in the block. */
static uint64_t end_in_block(const struct region_search *search, uint8_t kind,
                             const struct block *block, uint64_t from, uint32_t *depth)
{
    const struct construct_calls *calls = search->calls;
    for (size_t i = sorted_below(&calls->all, address, from);
         i < calls->all.n && calls->all.at[i].address < block->end; i++) {
        const struct construct_call *call = &calls->all.at[i];
        if (call->kind != kind)
            continue;
        *depth += call->role == CONSTRUCT_ENDS ? -1u : 1u;
        if (*depth == 0)
            return call->address + call->length;
    }
    return block->end;
}

/* Adds the code of a construct that is reached by the open blocks, up to the block `end_block`.
 * False: neither that nor a call ends it. */
static bool add_reached(struct region_search *search, uint32_t region, uint32_t end_block)
{
    struct construct_regions *regions = search->regions;
    uint8_t kind = regions->all.at[region].call->kind;
    bool has_end = false;
    while (regions->open.n) {
        struct open_block open = regions->open.at[--regions->open.n];
        if (open.block == end_block) {
            has_end = true;
            continue;
        }
        const struct block *block = &search->cfg->blocks.at[open.block];
        uint64_t end = end_in_block(search, kind, block, block->begin, &open.depth);
        vec_push(&regions->ranges, (struct region_range){block->begin, end, region});
        has_end |= open.depth == 0;
        if (open.depth)
            open_successors(search, block, open.depth);
    }
    return has_end;
}

/* ---- constructs ---- */

static uint32_t add_region(struct region_search *search, const struct construct_call *call)
{
    vec_push(&search->regions->all, (struct construct_region){call, 0});
    return (uint32_t)search->regions->all.n - 1;
}

static void add_begun(struct region_search *search, uint32_t in, const struct construct_call *call)
{
    const struct block *block = &search->cfg->blocks.at[in];
    uint32_t region = add_region(search, call), depth = 0;
    uint64_t end = end_in_block(search, call->kind, block, call->address, &depth);
    vec_push(&search->regions->ranges, (struct region_range){call->address, end, region});
    reset_walk(search);
    search->regions->seen.at[in] = true;
    if (depth)
        open_successors(search, block, depth);
    add_reached(search, region, NO_BLOCK);
}

static void add_chosen(struct region_search *search, uint32_t in, const struct construct_call *call)
{
    struct construct_regions *regions = search->regions;
    const struct block *block = &search->cfg->blocks.at[in];
    const uint32_t *sides = &search->cfg->successors.at[block->first_successor];
    if (block->successor_count != 2 || !call->body)
        return;
    uint32_t side = search->cfg->blocks.at[sides[0]].begin == call->body ? 0 : 1;
    uint32_t body = sides[side], other = sides[1 - side];
    size_t range_count = regions->ranges.n;
    uint32_t region = add_region(search, call);
    vec_push(&regions->ranges, (struct region_range){call->address, block->end, region});
    reset_walk(search);
    regions->seen.at[in] = regions->seen.at[body] = true;
    vec_push(&regions->open, (struct open_block){body, 1});
    if (!add_reached(search, region, other)) {
        regions->all.n--;
        regions->ranges.n = range_count;
    }
}

static void add_regions_of_block(struct region_search *search, uint32_t in)
{
    const struct construct_calls *calls = search->calls;
    const struct block *block = &search->cfg->blocks.at[in];
    for (size_t i = sorted_below(&calls->all, address, block->begin);
         i < calls->all.n && calls->all.at[i].address < block->end; i++) {
        const struct construct_call *call = &calls->all.at[i];
        if (call->role == CONSTRUCT_BEGINS)
            add_begun(search, in, call);
        else if (call->role == CONSTRUCT_CHOOSES)
            add_chosen(search, in, call);
    }
}

/* ---- order ---- */

bool construct_region_contains(const struct construct_regions *regions, uint32_t region,
                               uint64_t address)
{
    for (size_t i = 0; i < regions->ranges.n; i++) {
        const struct region_range *range = &regions->ranges.at[i];
        if (range->region == region && address >= range->begin && address < range->end)
            return true;
    }
    return false;
}

static void set_depths(struct construct_regions *regions)
{
    for (uint32_t i = 0; i < regions->all.n; i++)
        for (uint32_t k = 0; k < regions->all.n; k++)
            regions->all.at[i].depth +=
                i != k && construct_region_contains(regions, k, regions->all.at[i].call->address);
}

/* Sorts the regions by depth. */
static void sort_regions(struct construct_regions *regions)
{
    set_depths(regions);
    for (uint32_t i = 1; i < regions->all.n; i++)
        for (uint32_t k = i; k && regions->all.at[k - 1].depth > regions->all.at[k].depth; k--) {
            struct construct_region moved = regions->all.at[k];
            regions->all.at[k] = regions->all.at[k - 1];
            regions->all.at[k - 1] = moved;
            for (size_t r = 0; r < regions->ranges.n; r++) {
                uint32_t *region = &regions->ranges.at[r].region;
                *region = *region == k ? k - 1 : *region == k - 1 ? k : *region;
            }
        }
}

static void find_bounds(struct construct_regions *regions)
{
    for (size_t i = 0; i < regions->ranges.n; i++) {
        vec_push(&regions->bounds, regions->ranges.at[i].begin);
        vec_push(&regions->bounds, regions->ranges.at[i].end);
    }
    sort_addresses(regions->bounds.at, regions->bounds.n);
}

void construct_regions_find(struct construct_regions *regions, const struct cfg *cfg,
                            const struct construct_calls *calls)
{
    struct region_search search = {regions, cfg, calls};
    regions->all.n = regions->ranges.n = regions->bounds.n = 0;
    for (uint32_t i = 0; calls->all.n && i < cfg->blocks.n; i++) {
        add_regions_of_block(&search, i);
        if (regions->all.n > MAX_REGIONS || regions->ranges.n > MAX_RANGES) {
            regions->all.n = regions->ranges.n = 0;
            return;
        }
    }
    sort_regions(regions);
    find_bounds(regions);
}

void construct_regions_free(struct construct_regions *regions)
{
    vec_free(&regions->all);
    vec_free(&regions->ranges);
    vec_free(&regions->bounds);
    vec_free(&regions->open);
    vec_free(&regions->seen);
}
