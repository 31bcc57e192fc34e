#include "hpcrun/span/critical-path.h"

#include "hpcrun/base/sys.h"
#include "lib/binary-search.h"

#include <string.h>

#define FIRST_CAPACITY 8u
#define CHUNK_BYTES    (UINT64_C(64) << 10)

static void **free_tables(struct path_memory *memory, uint32_t capacity)
{
    return &memory->free[__builtin_ctz(capacity / FIRST_CAPACITY)];
}

static void *carve(struct path_memory *memory, uint64_t bytes)
{
    if (memory->left < bytes) {
        uint64_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        uint8_t *chunk = sys_pages(size);
        if (!chunk)
            return NULL;
        memory->chunk = chunk;
        memory->left = size;
    }
    void *block = memory->chunk;
    memory->chunk += bytes;
    memory->left -= bytes;
    return block;
}

/* The first word of a free table is the address of the next one. */
static struct path_table *take_table(struct path_memory *memory, uint32_t capacity)
{
    void **head = free_tables(memory, capacity);
    struct path_table *table = *head;
    if (table)
        memcpy(head, table, sizeof *head);
    else
        table = carve(memory, sizeof *table + capacity * sizeof *table->at);
    if (table)
        *table = (struct path_table){.capacity = capacity};
    return table;
}

static void free_table(struct path_memory *memory, struct path_table *table)
{
    void **head = free_tables(memory, table->capacity);
    memcpy(table, head, sizeof *head);
    *head = table;
}

/* A table with the same entries and more room; NULL without memory, or if it would be too large. */
static struct path_table *enlarge(struct path_memory *memory, struct path_table *table)
{
    uint32_t capacity = table ? 2 * table->capacity : FIRST_CAPACITY;
    if (capacity == FIRST_CAPACITY << PATH_TABLE_SIZES)
        return NULL;
    struct path_table *larger = take_table(memory, capacity);
    if (!larger || !table)
        return larger;
    larger->count = table->count;
    memcpy(larger->at, table->at, table->count * sizeof *table->at);
    free_table(memory, table);
    return larger;
}

static bool add_other(struct critical_path *path, struct path_memory *memory, uint32_t context,
                      uint64_t time)
{
    struct path_table *table = path->others;
    uint32_t count = table ? table->count : 0;
    size_t i = partition_point(k, count, table->at[k].context < context);
    if (i < count && table->at[i].context == context) {
        table->at[i].time += time;
        return true;
    }
    if (!table || count == table->capacity) {
        table = enlarge(memory, table);
        if (!table)
            return false;
        path->others = table;
    }
    memmove(&table->at[i + 1], &table->at[i], (count - i) * sizeof *table->at);
    table->at[i] = (struct path_entry){.context = context, .time = time};
    table->count++;
    return true;
}

/* The path gets the table itself if it has none, else its entries. */
bool path_append_others(struct critical_path *path, struct path_memory *memory,
                        struct path_table *others)
{
    bool complete = true;
    if (!path->others) {
        path->others = others;
        return true;
    }
    for (uint32_t i = 0; i < others->count; i++)
        complete &= add_other(path, memory, others->at[i].context, others->at[i].time);
    free_table(memory, others);
    return complete;
}

/* Takes a context's entry out of the table, and returns its time. */
static uint64_t take_out(struct path_table *table, uint32_t context)
{
    size_t i = partition_point(k, table->count, table->at[k].context < context);
    if (i == table->count || table->at[i].context != context)
        return 0;
    uint64_t time = table->at[i].time;
    table->count--;
    memmove(&table->at[i], &table->at[i + 1], (table->count - i) * sizeof *table->at);
    return time;
}

bool path_change_context(struct critical_path *path, struct path_memory *memory, uint32_t from,
                         uint32_t to)
{
    bool complete = add_other(path, memory, from, path->own);
    path->own = complete ? take_out(path->others, to) : 0;
    return complete;
}

void path_free_others(struct critical_path *path, struct path_memory *memory)
{
    free_table(memory, path->others);
}
