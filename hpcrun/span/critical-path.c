#include "hpcrun/span/critical-path.h"

#include "hpcrun/span/span-contexts.h"
#include "lib/binary-search.h"

#include <string.h>

_Static_assert(SPAN_CONTEXTS == 1u << 16, "a context fits into its field");

static uint32_t capacity_of(const struct path_table *table)
{
    return (uint32_t)(((FIRST_BLOCK << table->size) - sizeof *table) / sizeof *table->at);
}

/* A table with the same entries and more room; NULL without memory, or if it would be too large. */
static struct path_table *enlarge(struct worker_memory *memory, struct path_table *table)
{
    uint32_t size = table ? table->size + 1 : 0;
    struct path_table *larger = block_take(memory, size);
    if (!larger)
        return NULL;
    *larger = (struct path_table){.size = size};
    if (!table)
        return larger;
    larger->count = table->count;
    memcpy(larger->at, table->at, table->count * sizeof *table->at);
    block_free(memory, table, table->size);
    return larger;
}

static bool add_other(struct critical_path *path, struct worker_memory *memory,
                      const struct path_entry *entry)
{
    struct path_table *table = path->others;
    uint32_t count = table ? table->count : 0;
    size_t i = partition_point(k, count, table->at[k].context < entry->context);
    if (i < count && table->at[i].context == entry->context) {
        table->at[i].time += entry->time;
        table->at[i].strands += entry->strands;
        return true;
    }
    if (!table || count == capacity_of(table)) {
        table = enlarge(memory, table);
        if (!table)
            return false;
        path->others = table;
    }
    memmove(&table->at[i + 1], &table->at[i], (count - i) * sizeof *table->at);
    table->at[i] = *entry;
    table->count++;
    return true;
}

/* The path gets the table itself if it has none, else its entries. */
bool path_append_others(struct critical_path *path, struct worker_memory *memory,
                        struct path_table *others)
{
    bool complete = true;
    if (!path->others) {
        path->others = others;
        return true;
    }
    for (uint32_t i = 0; i < others->count; i++)
        complete &= add_other(path, memory, &others->at[i]);
    block_free(memory, others, others->size);
    return complete;
}

/* Takes a context's entry out of the table; zeros if there is none. */
static struct path_entry take_out(struct path_table *table, uint32_t context)
{
    size_t i = partition_point(k, table->count, table->at[k].context < context);
    if (i == table->count || table->at[i].context != context)
        return (struct path_entry){0};
    struct path_entry entry = table->at[i];
    table->count--;
    memmove(&table->at[i], &table->at[i + 1], (table->count - i) * sizeof *table->at);
    return entry;
}

bool path_change_context(struct critical_path *path, struct worker_memory *memory, uint32_t from,
                         uint32_t to)
{
    const struct path_entry old = {from, path->strands, path->own};
    struct path_entry own = {0};
    bool complete = add_other(path, memory, &old);
    if (complete)
        own = take_out(path->others, to);
    path->own = own.time;
    path->strands = own.strands;
    return complete;
}

/* Replaces the table by a copy. */
bool path_copy_others(struct critical_path *path, struct worker_memory *memory)
{
    const struct path_table *from = path->others;
    path->others = block_take(memory, from->size);
    if (!path->others)
        return false;
    memcpy(path->others, from, sizeof *from + from->count * sizeof *from->at);
    return true;
}

void path_free_others(struct critical_path *path, struct worker_memory *memory)
{
    block_free(memory, path->others, path->others->size);
}
