#include "lib/idmap.h"

#include "lib/alloc.h"

#include <stdlib.h>

struct idmap_slot {
    uint64_t a, b;
    uint32_t value_plus_1; /* 0 marks an empty slot */
};

/* The finalizer of MurmurHash3 (Appleby), applied to a multiplicative combination of the pair. */
uint64_t hash_pair(uint64_t a, uint64_t b)
{
    uint64_t h = a * 0x9e3779b97f4a7c15u + (b ^ (b >> 32)) * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return hash_pair(h, size);
}

static struct idmap_slot *find(const struct idmap *map, uint64_t a, uint64_t b)
{
    size_t mask = map->capacity - 1;
    size_t i = hash_pair(a, b) & mask;
    while (map->slots[i].value_plus_1 && (map->slots[i].a != a || map->slots[i].b != b))
        i = (i + 1) & mask;
    return &map->slots[i];
}

uint32_t idmap_get(const struct idmap *map, uint64_t a, uint64_t b)
{
    if (map->capacity == 0)
        return IDMAP_NONE;
    return find(map, a, b)->value_plus_1 - 1; /* an empty slot gives IDMAP_NONE */
}

static void grow(struct idmap *map)
{
    struct idmap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->slots = mem_alloc(map->capacity * sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].value_plus_1)
            *find(map, old.slots[i].a, old.slots[i].b) = old.slots[i];
    free(old.slots);
}

void idmap_put(struct idmap *map, uint64_t a, uint64_t b, uint32_t value)
{
    if (map->count * 3 >= map->capacity * 2)
        grow(map);
    struct idmap_slot *slot = find(map, a, b);
    if (!slot->value_plus_1)
        map->count++;
    *slot = (struct idmap_slot){.a = a, .b = b, .value_plus_1 = value + 1};
}

void idmap_free(struct idmap *map)
{
    free(map->slots);
    *map = (struct idmap){0};
}
