/* A table of distinct strings with dense ids in order of first appearance, for the tools. */
#ifndef LIB_STRTAB_H
#define LIB_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab {
    char **strings; /* owned; strings[id] */
    uint32_t *slots;
    size_t count, capacity, slot_count;
};

/* The id of `text` (copied when new). A zeroed table is empty. */
uint32_t strtab_id(struct strtab *table, const char *text);

/* The id of `text`, or UINT32_MAX when it is not in the table. */
uint32_t strtab_find(const struct strtab *table, const char *text);

/* The string of an id that strtab_id returned; valid until strtab_free. */
static inline const char *strtab_string(const struct strtab *table, uint32_t id)
{
    return table->strings[id];
}

/* Frees the table and its strings and leaves it empty. */
void strtab_free(struct strtab *table);

#endif
