/* A hash map from a pair of 64-bit integers to a 32-bit number, for the tools: dense ids of
 * (parent, key) pairs and the like. Deterministic: iteration order is never exposed. */
#ifndef LIB_IDMAP_H
#define LIB_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap {
    struct idmap_slot *slots;
    size_t capacity; /* power of two, 0 when empty */
    size_t count;
};

#define IDMAP_NONE UINT32_MAX

/* The number stored under (a, b), or IDMAP_NONE. A zeroed map is empty. */
uint32_t idmap_get(const struct idmap *map, uint64_t a, uint64_t b);

/* Stores `value` (not IDMAP_NONE) under (a, b), replacing what was there. */
void idmap_put(struct idmap *map, uint64_t a, uint64_t b, uint32_t value);

/* Frees the map's memory and leaves it empty. */
void idmap_free(struct idmap *map);

/* The mixing function behind it: a good 64-bit hash of a pair. */
uint64_t hash_pair(uint64_t a, uint64_t b);

/* A 64-bit hash of bytes (FNV-1a, then mixed). */
uint64_t hash_bytes(const void *data, size_t size);

#endif
