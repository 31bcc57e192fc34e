#include "hpcstruct/code/wanted-code.h"

/* Sets of owners, each a tree (union-find): an owner points to another one of its set, or to itself. */
static uint32_t root_of(uint32_t *sets, uint32_t owner)
{
    while (sets[owner] != owner) {
        sets[owner] = sets[sets[owner]];
        owner = sets[owner];
    }
    return owner;
}

static uint32_t *connected_owners(const struct code_map *map, const struct cross_jumps *cross_jumps)
{
    uint32_t *sets = mem_alloc(map->owners.n * sizeof *sets);
    for (uint32_t i = 0; i < map->owners.n; i++)
        sets[i] = i;
    for (size_t i = 0; i < cross_jumps->all.n; i++) {
        const struct cross_jump *jump = &cross_jumps->all.at[i];
        sets[root_of(sets, jump->part)] = root_of(sets, jump->other);
    }
    return sets;
}

void wanted_code_find(struct code_ranges *wanted, const struct address_list *addresses,
                      const struct code_map *map, const struct cross_jumps *cross_jumps)
{
    autofree uint32_t *sets = connected_owners(map, cross_jumps);
    autofree bool *is_wanted = mem_alloc(map->owners.n * sizeof *is_wanted); /* per root */
    for (size_t i = 0; i < addresses->all.n; i++) {
        uint32_t owner = code_map_owner(map, addresses->all.at[i]);
        if (owner != UINT32_MAX)
            is_wanted[root_of(sets, owner)] = true;
    }
    for (size_t i = 0; i < map->fragments.n; i++) {
        const struct code_fragment *fragment = &map->fragments.at[i];
        if (is_wanted[root_of(sets, fragment->owner)])
            vec_push(&wanted->all, (struct code_range){fragment->begin, fragment->end});
    }
}
