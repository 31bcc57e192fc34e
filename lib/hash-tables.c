#include "lib/hash-tables.h"

#include "lib/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

/* FNV-1a, then hash_pair. */
uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return hash_pair(h, size);
}

/* ---- pairs ---- */

struct idmap_slot {
    uint64_t a, b;
    uint32_t value_plus_1; /* 0 marks an empty slot */
};

static struct idmap_slot *find_pair(const struct idmap *map, uint64_t a, uint64_t b)
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
    return find_pair(map, a, b)->value_plus_1 - 1; /* an empty slot gives IDMAP_NONE */
}

void idmap_prefetch(const struct idmap *map, uint64_t a, uint64_t b)
{
    if (map->capacity)
        __builtin_prefetch(&map->slots[hash_pair(a, b) & (map->capacity - 1)]);
}

static void grow_pairs(struct idmap *map)
{
    struct idmap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->slots = mem_alloc_table(map->capacity * sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].value_plus_1)
            *find_pair(map, old.slots[i].a, old.slots[i].b) = old.slots[i];
    free(old.slots);
}

/* The slot of a pair, with `next` if it is new. */
static struct idmap_slot *slot_of(struct idmap *map, uint64_t a, uint64_t b, uint32_t next)
{
    assert(next != IDMAP_NONE);
    if (map->count * 3 >= map->capacity * 2)
        grow_pairs(map);
    struct idmap_slot *slot = find_pair(map, a, b);
    if (!slot->value_plus_1) {
        map->count++;
        *slot = (struct idmap_slot){.a = a, .b = b, .value_plus_1 = next + 1};
    }
    return slot;
}

void idmap_put(struct idmap *map, uint64_t a, uint64_t b, uint32_t value)
{
    slot_of(map, a, b, value)->value_plus_1 = value + 1;
}

uint32_t idmap_number(struct idmap *map, uint64_t a, uint64_t b, uint32_t next)
{
    return slot_of(map, a, b, next)->value_plus_1 - 1;
}

void idmap_free(struct idmap *map)
{
    free(map->slots);
    *map = (struct idmap){0};
}

/* ---- strings ---- */

/* slots[i] is an id + 1, or 0 when empty; linear probing. */
static size_t find_string(const struct strtab *table, const char *text)
{
    size_t mask = table->slot_count - 1;
    size_t i = hash_bytes(text, strlen(text)) & mask;
    while (table->slots[i] && strcmp(table->strings[table->slots[i] - 1], text) != 0)
        i = (i + 1) & mask;
    return i;
}

static void grow_strings(struct strtab *table)
{
    free(table->slots);
    table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
    table->slots = mem_alloc_table(table->slot_count * sizeof *table->slots);
    for (size_t id = 0; id < table->count; id++)
        table->slots[find_string(table, table->strings[id])] = (uint32_t)id + 1;
}

uint32_t strtab_find(const struct strtab *table, const char *text)
{
    if (table->slot_count == 0)
        return UINT32_MAX;
    return table->slots[find_string(table, text)] - 1;
}

uint32_t strtab_id(struct strtab *table, const char *text)
{
    if (table->count * 2 >= table->slot_count)
        grow_strings(table);
    size_t slot = find_string(table, text);
    if (table->slots[slot] == 0) {
        if (table->count == table->capacity) {
            table->capacity = table->capacity * 2 + 16;
            table->strings = mem_resize(table->strings, table->capacity, sizeof *table->strings);
        }
        table->strings[table->count++] = mem_strdup(text);
        table->slots[slot] = (uint32_t)table->count;
    }
    return table->slots[slot] - 1;
}

void strtab_free(struct strtab *table)
{
    for (size_t id = 0; id < table->count; id++)
        free(table->strings[id]);
    free(table->strings);
    free(table->slots);
    *table = (struct strtab){0};
}
