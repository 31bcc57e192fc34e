#include "hpcstruct/code/procedures.h"

#include "hpcstruct/elf/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct joiner {
    const struct code_map *map;
    struct cross_jumps *cross_jumps;
    uint32_t *joined_to;       /* per owner: the owner that it belongs to, or itself */
    const char **second_names; /* per owner without a name; NULL: none */
};

static const struct code_owner *owner_at(const struct joiner *joiner, uint32_t owner)
{
    return &joiner->map->owners.at[owner];
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

/* ---- decisions ---- */

static void join_by_links(struct joiner *joiner, const struct code_link *links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct code_link *link = &links[i];
        uint32_t part = code_map_owner(joiner->map, link->part),
                 entry = code_map_owner(joiner->map, link->entry);
        if (part == UINT32_MAX || entry == UINT32_MAX || part == entry ||
            owner_at(joiner, part)->begin != link->part || joiner->cross_jumps->called[part])
            continue;
        if (owner_may_be_part(owner_at(joiner, part)))
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
    if (joiner->cross_jumps->called[part])
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

/* Passes on the jumps of each part, together. */
static void for_each_part(struct joiner *joiner,
                          void (*use)(struct joiner *, const struct cross_jump *, size_t))
{
    const struct cross_jump *all = joiner->cross_jumps->all.at;
    size_t count = joiner->cross_jumps->all.n;
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && all[next].part == all[i].part; next++)
            ;
        use(joiner, &all[i], next - i);
    }
}

/* ---- second names ---- */

/* Whether a function begins with a jump to an address, or with endbr64 and such a jump. */
static bool jumps_to(const struct code_map *map, const struct code_owner *owner, uint64_t address)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const struct code_fragment *code = &map->fragments.at[owner->first_fragment];
    const uint8_t *bytes = code->bytes, *end = bytes + (code->end - code->begin);
    int32_t distance;
    if ((size_t)(end - bytes) > sizeof endbr64 && memcmp(bytes, endbr64, sizeof endbr64) == 0)
        bytes += sizeof endbr64;
    if (end - bytes == 5 && bytes[0] == 0xe9)
        memcpy(&distance, bytes + 1, sizeof distance);
    else if (end - bytes == 2 && bytes[0] == 0xeb)
        distance = (int8_t)bytes[1];
    else
        return false;
    return code->end + (uint64_t)distance == address;
}

/* The name of a function that only jumps to the first address of a part; NULL: none, or it does something else. */
static const char *jumper_name(const struct joiner *joiner, const struct cross_jump *cross_jump)
{
    const struct code_owner *other = owner_at(joiner, cross_jump->other);
    return other->name && jumps_to(joiner->map, other, owner_at(joiner, cross_jump->part)->begin) ? other->name : NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A function without a name gets that of the function that only jumps to it: to call one is to call the other. If there
 * are several, it gets the shortest of their names if the others begin with that, else none. Example: in python3.13,
 * Py_Finalize and Py_FinalizeEx only jump to one function. */
static void lend_name(struct joiner *joiner, const struct cross_jump *cross_jumps, size_t count)
{
    const char *shortest = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = jumper_name(joiner, &cross_jumps[i]);
        if (name && (!shortest || strlen(name) < strlen(shortest)))
            shortest = name;
    }
    for (size_t i = 0; i < count && shortest; i++) {
        const char *name = jumper_name(joiner, &cross_jumps[i]);
        if (name && !begins(name, shortest))
            return;
    }
    joiner->second_names[cross_jumps[0].part] = shortest;
}

/* ---- the list ---- */

static void list_procedures(struct procedures *procedures, const struct joiner *joiner)
{
    const struct code_map *map = joiner->map;
    for (uint32_t i = 0; i < map->owners.n; i++) {
        uint32_t number = UINT32_MAX;
        if (joiner->joined_to[i] == i) {
            number = (uint32_t)procedures->all.n;
            const struct code_owner *owner = &map->owners.at[i];
            const struct procedure procedure = {
                .entry = owner->begin, .name = owner->name ? owner->name : joiner->second_names[i]};
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

void procedures_build(struct procedures *procedures, const struct code_map *map,
                      struct cross_jumps *cross_jumps, const struct code_link *links,
                      size_t link_count)
{
    assert(procedures->all.n == 0 && procedures->fragments.n == 0);
    struct joiner joiner = {
        .map = map,
        .cross_jumps = cross_jumps,
        .joined_to = mem_alloc(map->owners.n * sizeof *joiner.joined_to),
        .second_names = mem_alloc(map->owners.n * sizeof *joiner.second_names),
    };
    for (uint32_t i = 0; i < map->owners.n; i++)
        joiner.joined_to[i] = i;
    join_by_links(&joiner, links, link_count);
    if (cross_jumps->all.n)
        qsort(cross_jumps->all.at, cross_jumps->all.n, sizeof *cross_jumps->all.at, by_part);
    for_each_part(&joiner, join_by_jumps);
    for_each_part(&joiner, lend_name);
    list_procedures(procedures, &joiner);
    list_fragments(procedures, map);
    free(joiner.joined_to);
    free(joiner.second_names);
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
