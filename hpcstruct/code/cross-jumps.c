#include "hpcstruct/code/cross-jumps.h"

#include "hpcstruct/elf/names.h"

#include "lib/parallel.h"

#include <stdlib.h>

struct jump_search {
    const struct flow_sources *from;
    struct cross_jumps *found;
    struct cross_jumps *of_worker; /* per worker; without `called` */
    struct landing_pads *pads;     /* per worker */
};

uint32_t code_map_owner(const struct code_map *map, uint64_t address)
{
    uint32_t fragment = code_map_find(map, address);
    return fragment == UINT32_MAX ? fragment : map->fragments.at[fragment].owner;
}

bool owner_may_be_part(const struct code_owner *owner)
{
    if (owner->is_stub)
        return false;
    return owner->name ? is_cold_name(owner->name) : owner->has_frame;
}

static const struct code_owner *owner_at(const struct jump_search *search, uint32_t owner)
{
    return &search->from->map->owners.at[owner];
}

static void record_call(const struct jump_search *search, uint64_t target)
{
    uint32_t owner = code_map_owner(search->from->map, target);
    if (owner != UINT32_MAX && owner_at(search, owner)->begin == target)
        atomic_store_explicit(&search->found->called[owner], true, memory_order_relaxed);
}

static void record_jump(const struct jump_search *search, unsigned worker, uint32_t from,
                        uint64_t target)
{
    uint32_t to = code_map_owner(search->from->map, target);
    if (to == UINT32_MAX || to == from)
        return;
    bool to_middle = owner_at(search, to)->begin != target;
    if (owner_may_be_part(owner_at(search, to))) {
        const struct cross_jump in = {to, from, true, to_middle};
        vec_push(&search->of_worker[worker].all, in);
    }
    if (to_middle && owner_may_be_part(owner_at(search, from))) {
        const struct cross_jump out = {from, to, false, true};
        vec_push(&search->of_worker[worker].all, out);
    }
}

static void record_table(const struct jump_search *search, unsigned worker,
                         const struct code_fragment *fragment, const struct fragment_flow *flow,
                         const struct jump_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t target = flow->targets.at[table->first + i];
        if (target < fragment->begin || target >= fragment->end)
            record_jump(search, worker, fragment->owner, target);
    }
}

static void record_flow(void *context, unsigned worker, size_t fragment_index)
{
    const struct jump_search *search = context;
    const struct code_fragment *fragment = &search->from->map->fragments.at[fragment_index];
    const struct fragment_flow *flow = &search->from->flows[fragment_index];
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        uint64_t target = transfer_target(fragment, transfer);
        bool leaves = target < fragment->begin || target >= fragment->end;
        if (transfer->kind == TRANSFER_CALL)
            record_call(search, target);
        else if ((transfer->kind == TRANSFER_JUMP || transfer->kind == TRANSFER_BRANCH) && leaves)
            record_jump(search, worker, fragment->owner, target);
    }
    for (size_t i = 0; i < flow->tables.n; i++)
        record_table(search, worker, fragment, flow, &flow->tables.at[i]);
}

static void record_landing_pads(void *context, unsigned worker, size_t entry_index)
{
    const struct jump_search *search = context;
    struct landing_pads *pads = &search->pads[worker];
    const struct frame_entry *entry = &search->from->frames->entries.at[entry_index];
    pads->all.n = 0;
    landing_pads_read(pads, search->from->image, entry);
    uint32_t from = pads->all.n ? code_map_owner(search->from->map, entry->begin) : UINT32_MAX;
    for (size_t i = 0; i < pads->all.n && from != UINT32_MAX; i++)
        record_jump(search, worker, from, pads->all.at[i].address);
}

void cross_jumps_find(struct cross_jumps *cross_jumps, const struct flow_sources *sources,
                      unsigned workers)
{
    struct jump_search search = {
        .from = sources,
        .found = cross_jumps,
        .of_worker = mem_alloc(workers * sizeof *search.of_worker),
        .pads = mem_alloc(workers * sizeof *search.pads),
    };
    cross_jumps->called = mem_alloc(sources->map->owners.n * sizeof *cross_jumps->called);
    parallel_for_many(sources->map->fragments.n, workers, record_flow, &search);
    parallel_for_many(sources->frames->entries.n, workers, record_landing_pads, &search);
    for (unsigned i = 0; i < workers; i++) {
        for (size_t k = 0; k < search.of_worker[i].all.n; k++)
            vec_push(&cross_jumps->all, search.of_worker[i].all.at[k]);
        vec_free(&search.of_worker[i].all);
        vec_free(&search.pads[i].all);
    }
    free(search.of_worker);
    free(search.pads);
}

void cross_jumps_free(struct cross_jumps *cross_jumps)
{
    vec_free(&cross_jumps->all);
    free(cross_jumps->called);
    cross_jumps->called = NULL;
}
