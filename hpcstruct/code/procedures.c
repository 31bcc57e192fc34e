#include "hpcstruct/code/procedures.h"

#include "hpcstruct/elf/eh-frame.h"
#include "hpcstruct/elf/names.h"

#include "lib/parallel.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A jump, or the unwinding to a landing pad, from the code of one owner to that of another. */
struct cross_jump {
    uint32_t part, other; /* owners; `part` may be a part of `other` */
    bool inward;          /* into the part; else out of it */
    bool to_middle;       /* its target is not the first address of an owner */
};

struct cross_jumps {
    VEC(struct cross_jump) all;
};

struct joiner {
    const struct procedure_sources *from;
    atomic_bool *called;       /* per owner: a call goes to its first address */
    uint32_t *joined_to;       /* per owner: the owner that it belongs to, or itself */
    struct cross_jumps *found; /* per worker: cross jumps */
    struct landing_pads *pads; /* per worker */
    struct cross_jumps cross_jumps;
};

static const struct code_owner *owner_at(const struct joiner *joiner, uint32_t owner)
{
    return &joiner->from->map->owners.at[owner];
}

static uint32_t owner_of(const struct joiner *joiner, uint64_t address)
{
    uint32_t fragment = code_map_find(joiner->from->map, address);
    return fragment == UINT32_MAX ? fragment : joiner->from->map->fragments.at[fragment].owner;
}

static uint32_t root_of(const struct joiner *joiner, uint32_t owner)
{
    while (joiner->joined_to[owner] != owner)
        owner = joiner->joined_to[owner];
    return owner;
}

static void join(struct joiner *joiner, uint32_t part, uint32_t to)
{
    to = root_of(joiner, to);
    if (joiner->joined_to[part] == part && to != part)
        joiner->joined_to[part] = to;
}

/* ---- evidence ---- */

static void record_call(const struct joiner *joiner, uint64_t target)
{
    uint32_t owner = owner_of(joiner, target);
    if (owner != UINT32_MAX && owner_at(joiner, owner)->begin == target)
        atomic_store_explicit(&joiner->called[owner], true, memory_order_relaxed);
}

/* Whether an owner may be a part of another one. */
static bool may_be_part(const struct code_owner *owner)
{
    if (owner->is_stub)
        return false;
    return owner->name ? is_cold_name(owner->name) : owner->has_frame;
}

static void record_jump(const struct joiner *joiner, unsigned worker, uint32_t from,
                        uint64_t target)
{
    uint32_t to = owner_of(joiner, target);
    if (to == UINT32_MAX || to == from)
        return;
    bool to_middle = owner_at(joiner, to)->begin != target;
    if (may_be_part(owner_at(joiner, to))) {
        const struct cross_jump in = {to, from, true, to_middle};
        vec_push(&joiner->found[worker].all, in);
    }
    if (to_middle && may_be_part(owner_at(joiner, from))) {
        const struct cross_jump out = {from, to, false, true};
        vec_push(&joiner->found[worker].all, out);
    }
}

static void record_table(const struct joiner *joiner, unsigned worker,
                         const struct code_fragment *fragment, const struct fragment_flow *flow,
                         const struct jump_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t target = flow->targets.at[table->first + i];
        if (target < fragment->begin || target >= fragment->end)
            record_jump(joiner, worker, fragment->owner, target);
    }
}

static void record_flow(void *context, unsigned worker, size_t fragment_index)
{
    const struct joiner *joiner = context;
    const struct code_fragment *fragment = &joiner->from->map->fragments.at[fragment_index];
    const struct fragment_flow *flow = &joiner->from->flows[fragment_index];
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        uint64_t target = transfer_target(fragment, transfer);
        bool leaves = target < fragment->begin || target >= fragment->end;
        if (transfer->kind == TRANSFER_CALL)
            record_call(joiner, target);
        else if ((transfer->kind == TRANSFER_JUMP || transfer->kind == TRANSFER_BRANCH) && leaves)
            record_jump(joiner, worker, fragment->owner, target);
    }
    for (size_t i = 0; i < flow->tables.n; i++)
        record_table(joiner, worker, fragment, flow, &flow->tables.at[i]);
}

static void record_landing_pads(void *context, unsigned worker, size_t entry_index)
{
    const struct joiner *joiner = context;
    struct landing_pads *pads = &joiner->pads[worker];
    const struct frame_entry *entry = &joiner->from->frames->entries.at[entry_index];
    pads->all.n = 0;
    landing_pads_read(pads, joiner->from->image, entry);
    uint32_t from = pads->all.n ? owner_of(joiner, entry->begin) : UINT32_MAX;
    for (size_t i = 0; i < pads->all.n && from != UINT32_MAX; i++)
        record_jump(joiner, worker, from, pads->all.at[i].address);
}

/* Finds all calls and cross jumps. */
static void record_all(struct joiner *joiner, unsigned workers)
{
    joiner->found = mem_alloc(workers * sizeof *joiner->found);
    joiner->pads = mem_alloc(workers * sizeof *joiner->pads);
    parallel_for_many(joiner->from->map->fragments.n, workers, record_flow, joiner);
    parallel_for_many(joiner->from->frames->entries.n, workers, record_landing_pads, joiner);
    for (unsigned i = 0; i < workers; i++) {
        for (size_t k = 0; k < joiner->found[i].all.n; k++)
            vec_push(&joiner->cross_jumps.all, joiner->found[i].all.at[k]);
        vec_free(&joiner->found[i].all);
        vec_free(&joiner->pads[i].all);
    }
    free(joiner->found);
    free(joiner->pads);
}

/* ---- decisions ---- */

static void join_by_links(struct joiner *joiner)
{
    for (size_t i = 0; i < joiner->from->link_count; i++) {
        const struct code_link *link = &joiner->from->links[i];
        uint32_t part = owner_of(joiner, link->part), entry = owner_of(joiner, link->entry);
        if (part == UINT32_MAX || entry == UINT32_MAX || part == entry ||
            owner_at(joiner, part)->begin != link->part || joiner->called[part])
            continue;
        if (may_be_part(owner_at(joiner, part)))
            join(joiner, part, entry);
    }
}

/* The order of those of one part and one other owner makes no difference. */
static int by_part(const void *a, const void *b)
{
    const struct cross_jump *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* The owner that jumps into a part if there is exactly one; else UINT32_MAX. */
static uint32_t only_origin(const struct joiner *joiner, const struct cross_jump *cross_jumps,
                            size_t count)
{
    uint32_t only = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = root_of(joiner, cross_jumps[i].other);
        if (!cross_jumps[i].inward)
            continue;
        if (only != UINT32_MAX && only != other)
            return UINT32_MAX;
        only = other;
    }
    return only;
}

/* Whether a part without a name that only `origin` jumps into continues that function. If two
 * owners jump to each other, the part is the one whose frame begins mid-function; else the one that
 * the other enters at its first address. */
static bool continues_function(const struct joiner *joiner, uint32_t origin,
                               const struct cross_jump *cross_jumps, size_t count)
{
    if (owner_at(joiner, cross_jumps[0].part)->begins_mid_function)
        return true;
    bool is_entered = false, reaches_middle = false;
    for (size_t i = 0; i < count; i++) {
        is_entered |= cross_jumps[i].inward && !cross_jumps[i].to_middle;
        reaches_middle |=
            cross_jumps[i].to_middle && root_of(joiner, cross_jumps[i].other) == origin;
    }
    return is_entered && reaches_middle && !owner_at(joiner, origin)->begins_mid_function;
}

/* Joins a part to a function if its cross jumps show that it belongs to it. */
static void join_by_jumps(struct joiner *joiner, const struct cross_jump *cross_jumps, size_t count)
{
    uint32_t part = cross_jumps[0].part;
    const char *name = owner_at(joiner, part)->name;
    if (joiner->called[part])
        return;
    for (size_t i = 0; i < count && name; i++) {
        const char *other_name = owner_at(joiner, cross_jumps[i].other)->name;
        if (other_name && is_cold_name_of(name, other_name)) {
            join(joiner, part, cross_jumps[i].other);
            return;
        }
    }
    uint32_t origin = only_origin(joiner, cross_jumps, count);
    if (origin != UINT32_MAX && (name || continues_function(joiner, origin, cross_jumps, count)))
        join(joiner, part, origin);
}

static void join_by_all_jumps(struct joiner *joiner)
{
    struct cross_jump *all = joiner->cross_jumps.all.at;
    size_t count = joiner->cross_jumps.all.n;
    if (count)
        qsort(all, count, sizeof *all, by_part);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && all[next].part == all[i].part; next++)
            ;
        join_by_jumps(joiner, &all[i], next - i);
    }
}

/* ---- the list ---- */

static void list_procedures(struct procedures *procedures, const struct joiner *joiner)
{
    const struct code_map *map = joiner->from->map;
    for (uint32_t i = 0; i < map->owners.n; i++) {
        uint32_t number = UINT32_MAX;
        if (joiner->joined_to[i] == i) {
            number = (uint32_t)procedures->all.n;
            const struct procedure procedure = {.entry = map->owners.at[i].begin,
                                                .name = map->owners.at[i].name};
            vec_push(&procedures->all, procedure);
        }
        vec_push(&procedures->of_owner, number);
    }
    for (uint32_t i = 0; i < map->owners.n; i++)
        procedures->of_owner.at[i] = procedures->of_owner.at[root_of(joiner, i)];
}

/* Lists the fragments by procedure, in the order of the map. */
static void list_fragments(struct procedures *procedures, const struct code_map *map)
{
    for (size_t i = 0; i < map->fragments.n; i++) {
        uint32_t number = procedures->of_owner.at[map->fragments.at[i].owner];
        procedures->all.at[number].fragment_count++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < procedures->all.n; i++) {
        procedures->all.at[i].first_fragment = first;
        first += procedures->all.at[i].fragment_count;
        procedures->all.at[i].fragment_count = 0;
    }
    vec_reserve(&procedures->fragments, map->fragments.n);
    procedures->fragments.n = map->fragments.n;
    for (uint32_t i = 0; i < map->fragments.n; i++) {
        struct procedure *procedure =
            &procedures->all.at[procedures->of_owner.at[map->fragments.at[i].owner]];
        procedures->fragments.at[procedure->first_fragment + procedure->fragment_count++] = i;
    }
}

void procedures_build(struct procedures *procedures, const struct procedure_sources *sources,
                      unsigned workers)
{
    assert(procedures->all.n == 0 && procedures->fragments.n == 0);
    size_t owners = sources->map->owners.n;
    struct joiner joiner = {
        .from = sources,
        .called = mem_alloc(owners * sizeof *joiner.called),
        .joined_to = mem_alloc(owners * sizeof *joiner.joined_to),
    };
    for (uint32_t i = 0; i < owners; i++)
        joiner.joined_to[i] = i;
    record_all(&joiner, workers);
    join_by_links(&joiner);
    join_by_all_jumps(&joiner);
    list_procedures(procedures, &joiner);
    list_fragments(procedures, sources->map);
    free(joiner.called);
    free(joiner.joined_to);
    vec_free(&joiner.cross_jumps.all);
}

void procedures_free(struct procedures *procedures)
{
    vec_free(&procedures->all);
    vec_free(&procedures->fragments);
    vec_free(&procedures->of_owner);
}

uint32_t procedures_find(const struct procedures *procedures, const struct code_map *map,
                         uint64_t address)
{
    uint32_t fragment = code_map_find(map, address);
    if (fragment == UINT32_MAX)
        return fragment;
    return procedures->of_owner.at[map->fragments.at[fragment].owner];
}
