/* Hash tables for the tools. A zeroed table is empty. Their order is never visible, so output does
 * not depend on hash values. */
#ifndef LIB_HASH_TABLES_H
#define LIB_HASH_TABLES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* A map from a pair of 64-bit integers, e.g. (parent, key), to a 32-bit number. */
struct idmap {
    struct idmap_slot *slots; /* first: autofree (alloc.h) frees a map, too */
    size_t capacity; /* a power of two; 0 if empty */
    size_t count;
};

#define IDMAP_NONE UINT32_MAX

/* The number stored for (a, b), or IDMAP_NONE. */
uint32_t idmap_get(const struct idmap *map, uint64_t a, uint64_t b);

/* Stores `value`, which is not IDMAP_NONE, for (a, b), in place of an earlier one. */
void idmap_put(struct idmap *map, uint64_t a, uint64_t b, uint32_t value);

/* The number stored for (a, b); if there is none, stores and returns `next`, which is not IDMAP_NONE. */
uint32_t idmap_number(struct idmap *map, uint64_t a, uint64_t b, uint32_t next);

/* Has the processor fetch the memory that a search for (a, b) reads, while it does something else. For tables that are
 * larger than its caches. */
void idmap_prefetch(const struct idmap *map, uint64_t a, uint64_t b);

/* Frees the map's memory and leaves it empty. */
void idmap_free(struct idmap *map);

/* A table of distinct strings. Ids are 0, 1, 2, ... in order of first appearance. */
struct strtab {
    char **strings; /* owned; strings[id] */
    uint32_t *slots;
    size_t count, capacity, slot_count;
};

/* The id of `text`, which is copied if it is new. */
uint32_t strtab_id(struct strtab *table, const char *text);

/* The id of `text`, or UINT32_MAX if it is not in the table. */
uint32_t strtab_find(const struct strtab *table, const char *text);

/* The string of an id that strtab_id returned; valid until strtab_free. */
static inline const char *strtab_string(const struct strtab *table, uint32_t id)
{
    assert(id < table->count);
    return table->strings[id];
}

/* Frees the table and its strings and leaves it empty. */
void strtab_free(struct strtab *table);

/* 64-bit hashes of a pair of integers and of bytes. */
uint64_t hash_pair(uint64_t a, uint64_t b);
uint64_t hash_bytes(const void *data, size_t size);

#endif
