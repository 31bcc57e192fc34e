#include "hpcstruct/code/jump-table.h"

#include "hpcstruct/code/decode.h"
#include "hpcstruct/code/jump-table-pattern.h"
#include "hpcstruct/elf/names.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/bytes.h"

#include <stdlib.h>

/* They bound what damaged code can make us do. */
#define MAX_ALL_TARGETS (1u << 20)
#define MAX_TRIES       50000

struct table {
    uint32_t flow; /* index of the jump */
    uint64_t address;
    unsigned entry_size;  /* 8: entries are addresses; 4: they are relative ... */
    uint64_t relative_to; /* ... to this address */
    uint32_t bound;       /* number of entries, or NO_BOUND */
};

struct finder {
    struct decoded decoded;
    const struct decode_context *context;
    unsigned tries_left; /* of addresses that might be a table's */
};

/* ---- the table's address ---- */

static bool entry_target(const struct finder *finder, const struct table *table, uint64_t number,
                         uint64_t *target)
{
    uint64_t address = table->address + number * table->entry_size;
    const struct decode_context *context = finder->context;
    if (table->entry_size == 8)
        return relocations_pointer(context->relocations, context->image, address, target);
    struct elf_bytes bytes = elf_loaded(context->image, address);
    if (bytes.size < 4)
        return false;
    *target = table->relative_to + (uint64_t)(int64_t)(int32_t)get_u32(bytes.at);
    return true;
}

/* Whether a jump may go there: to an instruction of the fragment, or to a part of the function
 * that lies elsewhere. */
static bool is_target(const struct finder *finder, uint64_t target)
{
    const struct code_fragment *fragment = finder->decoded.fragment;
    if (target >= fragment->begin && target < fragment->end)
        return instruction_index(finder->decoded.decoder, (uint32_t)(target - fragment->begin)) !=
               UINT32_MAX;
    const struct code_map *map = finder->context->map;
    uint32_t other = code_map_find(map, target);
    if (other == UINT32_MAX)
        return false;
    const struct code_owner *owner = &map->owners.at[map->fragments.at[other].owner];
    return map->fragments.at[other].owner == fragment->owner ||
           (owner->name ? is_cold_name(owner->name) : owner->begins_mid_function);
}

/* Takes an address for the table's if its first entry fits. */
static bool try_address(struct finder *finder, const struct jump_load *load, uint64_t address,
                        struct table *table)
{
    struct table candidate = *table;
    uint64_t target;
    if (finder->tries_left == 0)
        return false;
    finder->tries_left--;
    candidate.address = address;
    candidate.relative_to = load->base_known ? load->base_value : address;
    if (!entry_target(finder, &candidate, 0, &target) ||
        (!is_target(finder, target) && target != finder->decoded.fragment->end))
        return false;
    *table = candidate;
    return true;
}

/* Tries the address that a lea loads, if it loads `r` (any register: ZYDIS_REGISTER_NONE). */
static bool try_lea(struct finder *finder, const struct jump_load *load, uint32_t lea,
                    ZydisRegister r, struct table *table)
{
    struct instruction instruction;
    uint64_t value;
    return instruction_fetch(&finder->decoded, lea, &instruction) &&
           (r == ZYDIS_REGISTER_NONE || operand_is_register(&instruction.operands[0], r)) &&
           instruction_constant(&finder->decoded, &instruction, &value) &&
           try_address(finder, load, value + (uint64_t)load->memory.disp.value, table);
}

/* Tries the addresses that leas load, those before the load first, the nearest first. Compilers
 * hoist them far out of loops. */
static bool try_leas(struct finder *finder, const struct jump_load *load, ZydisRegister r,
                     struct table *table)
{
    const struct decoder *decoder = finder->decoded.decoder;
    size_t behind = 0;
    while (behind < decoder->address_loads.n && decoder->address_loads.at[behind] < load->index)
        behind++;
    for (size_t i = behind; i > 0 && finder->tries_left; i--)
        if (try_lea(finder, load, decoder->address_loads.at[i - 1], r, table))
            return true;
    for (size_t i = behind; i < decoder->address_loads.n && finder->tries_left; i++)
        if (try_lea(finder, load, decoder->address_loads.at[i], r, table))
            return true;
    return false;
}

/* Finds the table's address. */
static bool locate(struct finder *finder, const struct jump_load *load, struct table *table)
{
    uint64_t displacement = (uint64_t)load->memory.disp.value, value;
    /* Offsets are nearly always relative to the table itself. */
    if (load->base_known && try_address(finder, load, load->base_value, table))
        return true;
    if (load->memory.base == ZYDIS_REGISTER_NONE)
        return try_address(finder, load, displacement, table);
    const ZydisRegister registers[] = {load->memory.base, load->memory.index, load->base};
    for (size_t i = 0; i < 3; i++)
        if (registers[i] != ZYDIS_REGISTER_NONE &&
            register_constant(&finder->decoded, load->index, registers[i], &value) &&
            try_address(finder, load, displacement + value, table))
            return true;
    for (size_t i = 0; i < 3; i++)
        if (registers[i] != ZYDIS_REGISTER_NONE && try_leas(finder, load, registers[i], table))
            return true;
    return try_leas(finder, load, ZYDIS_REGISTER_NONE, table);
}

/* ---- reading ---- */

/* Whether the entries go on behind one with this target, which is none. Clang points entries that
 * cannot be taken to the end of the function. */
static bool goes_on_behind(const struct finder *finder, const struct table *table, uint64_t target)
{
    return table->bound != NO_BOUND || target == finder->decoded.fragment->end;
}

/* Reads the entries of a table. */
static void read_table(const struct finder *finder, const struct table *table, struct flows *flows)
{
    uint32_t count = table->bound < MAX_ENTRIES ? table->bound : MAX_ENTRIES;
    size_t first = flows->targets.n;
    uint64_t target;
    for (uint32_t i = 0; i < count && flows->targets.n < MAX_ALL_TARGETS; i++) {
        if (!entry_target(finder, table, i, &target))
            break;
        if (is_target(finder, target))
            vec_push(&flows->targets, target);
        else if (goes_on_behind(finder, table, target))
            vec_push(&flows->targets, FLOW_NOWHERE);
        else
            break;
    }
    const struct flow_table read = {
        .address = table->address,
        .first = (uint32_t)first,
        .count = (uint32_t)(flows->targets.n - first),
        .entry_size = (uint8_t)table->entry_size,
        .bounded = table->bound != NO_BOUND,
    };
    flows->all.at[table->flow].target = (int32_t)flows->tables.n;
    vec_push(&flows->tables, read);
}

/* Finds the table of a jump; false when it has none. */
static bool find_table(struct finder *finder, uint32_t jump, struct table *table)
{
    struct jump_load load;
    if (!find_jump_load(&finder->decoded, jump, &load))
        return false;
    table->entry_size = load.entry_size;
    if (!locate(finder, &load, table))
        return false;
    table->bound = find_jump_bound(&finder->decoded, load.index, load.memory.index);
    if (table->bound == NO_BOUND && load.memory.scale <= 1) /* either one may be the index */
        table->bound = find_jump_bound(&finder->decoded, load.index, load.memory.base);
    return true;
}

void jump_tables_resolve(struct decoder *decoder, const struct decode_context *context,
                         const struct code_fragment *fragment, struct flows *flows)
{
    struct finder finder = {
        .decoded = {decoder, fragment, flows}, .context = context, .tries_left = MAX_TRIES};
    size_t flow = 0;
    for (size_t i = 0; i < decoder->indirect_jumps.n; i++) {
        uint32_t jump = decoder->indirect_jumps.at[i];
        while (flows->all.at[flow].offset != decoder->offsets.at[jump])
            flow++;
        struct table table = {.flow = (uint32_t)flow};
        if (find_table(&finder, jump, &table))
            read_table(&finder, &table, flows);
    }
}

/* Ends a table of unknown size where the next one begins. */
static void cut_table(struct flow_table *table, const struct address_list *tables)
{
    size_t next = partition_point(i, tables->all.n, tables->all.at[i] <= table->address);
    if (table->bounded || next == tables->all.n)
        return;
    uint64_t most = (tables->all.at[next] - table->address) / table->entry_size;
    if (table->count > most)
        table->count = (uint32_t)most;
}

/* Sorts the targets, and keeps each once. */
static void sort_targets(struct flow_table *table, uint64_t *targets)
{
    sort_addresses(targets, table->count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (targets[i] != FLOW_NOWHERE && (kept == 0 || targets[i] != targets[kept - 1]))
            targets[kept++] = targets[i];
    table->count = kept;
}

static void drop_empty_tables(struct flows *flows)
{
    for (size_t i = 0; i < flows->all.n; i++) {
        struct flow *flow = &flows->all.at[i];
        if (flow->kind == FLOW_JUMP_INDIRECT && flow->target != FLOW_NO_TABLE &&
            flows->tables.at[flow->target].count == 0)
            flow->target = FLOW_NO_TABLE;
    }
}

void flows_settle(struct flows *flows, size_t fragment_count)
{
    struct address_list tables = {0};
    for (size_t i = 0; i < fragment_count; i++)
        for (size_t k = 0; k < flows[i].tables.n; k++)
            vec_push(&tables.all, flows[i].tables.at[k].address);
    sort_addresses(tables.all.at, tables.all.n);
    for (size_t i = 0; i < fragment_count; i++) {
        for (size_t k = 0; k < flows[i].tables.n; k++) {
            struct flow_table *table = &flows[i].tables.at[k];
            cut_table(table, &tables);
            sort_targets(table, flows[i].targets.at + table->first);
        }
        if (flows[i].tables.n)
            drop_empty_tables(&flows[i]);
    }
    vec_free(&tables.all);
}
