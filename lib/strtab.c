#include "lib/strtab.h"

#include "lib/alloc.h"
#include "lib/idmap.h"

#include <stdlib.h>
#include <string.h>

/* slots[i] is an id + 1, or 0 when empty; linear probing. */
static size_t find_slot(const struct strtab *table, const char *text)
{
    size_t mask = table->slot_count - 1;
    size_t i = hash_bytes(text, strlen(text)) & mask;
    while (table->slots[i] && strcmp(table->strings[table->slots[i] - 1], text) != 0)
        i = (i + 1) & mask;
    return i;
}

static void grow_slots(struct strtab *table)
{
    free(table->slots);
    table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
    table->slots = mem_alloc(table->slot_count * sizeof *table->slots);
    for (size_t id = 0; id < table->count; id++)
        table->slots[find_slot(table, table->strings[id])] = (uint32_t)id + 1;
}

uint32_t strtab_find(const struct strtab *table, const char *text)
{
    if (table->slot_count == 0)
        return UINT32_MAX;
    return table->slots[find_slot(table, text)] - 1;
}

uint32_t strtab_id(struct strtab *table, const char *text)
{
    if (table->count * 2 >= table->slot_count)
        grow_slots(table);
    size_t slot = find_slot(table, text);
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
