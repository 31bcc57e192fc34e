#include "hpcstruct/code/jump-table.h"

#include "hpcstruct/code/jump-table-pattern.h"
#include "hpcstruct/elf/names.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/bytes.h"
#include "lib/parallel.h"

#include <stdlib.h>

/* Bounds of the effort for damaged code. */
#define MAX_ALL_TARGETS (1u << 20)
#define MAX_TRIES       50000

/* A jump table that is being looked for. */
struct table_candidate {
    uint32_t transfer; /* index of the jump */
    uint64_t address;
    unsigned entry_size;  /* 8: entries are addresses; 4: they are relative ... */
    uint64_t relative_to; /* ... to this address */
    uint32_t bound;       /* number of entries, or NO_BOUND */
};

struct table_finder {
    struct decoded_fragment decoded;
    const struct decode_context *context;
    unsigned tries_left; /* number of addresses that may still be tried */
};

/* ---- the address of the table ---- */

static bool entry_target(const struct table_finder *finder, const struct table_candidate *table,
                         uint64_t number, uint64_t *target)
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

/* Whether a jump of the fragment may have this target: an instruction of the fragment, or code of a
 * part that the compiler split off from the function. */
static bool is_target(const struct table_finder *finder, uint64_t target)
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

/* Accepts an address as that of the table if the first entry there points to code. */
static bool try_address(struct table_finder *finder, const struct entry_load *load,
                        uint64_t address, struct table_candidate *table)
{
    struct table_candidate candidate = *table;
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

/* Tries the address that a lea loads, if it loads `r`; ZYDIS_REGISTER_NONE means any register.
 */
static bool try_lea(struct table_finder *finder, const struct entry_load *load, uint32_t lea,
                    ZydisRegister r, struct table_candidate *table)
{
    struct instruction instruction;
    uint64_t value;
    return instruction_decode(&finder->decoded, lea, &instruction) &&
           (r == ZYDIS_REGISTER_NONE || operand_is_register(&instruction.operands[0], r)) &&
           instruction_constant(&finder->decoded, &instruction, &value) &&
           try_address(finder, load, value + (uint64_t)load->memory.disp.value, table);
}

/* Tries the addresses that leas load: first those before the load, the nearest first. Compilers
 * hoist them out of loops, so that they may be far away. */
static bool try_leas(struct table_finder *finder, const struct entry_load *load, ZydisRegister r,
                     struct table_candidate *table)
{
    const struct decoder *decoder = finder->decoded.decoder;
    size_t after = 0; /* the first lea after the load */
    while (after < decoder->address_loads.n && decoder->address_loads.at[after] < load->index)
        after++;
    for (size_t i = after; i > 0 && finder->tries_left; i--)
        if (try_lea(finder, load, decoder->address_loads.at[i - 1], r, table))
            return true;
    for (size_t i = after; i < decoder->address_loads.n && finder->tries_left; i++)
        if (try_lea(finder, load, decoder->address_loads.at[i], r, table))
            return true;
    return false;
}

/* Finds the address of the table. */
static bool locate(struct table_finder *finder, const struct entry_load *load,
                   struct table_candidate *table)
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

/* Whether more entries follow one with an invalid target. Clang lets entries that are never used
 * point to the end of the function. */
static bool continues_after(const struct table_finder *finder, const struct table_candidate *table,
                            uint64_t target)
{
    return table->bound != NO_BOUND || target == finder->decoded.fragment->end;
}

/* Reads the entries of a table. */
static void read_table(const struct table_finder *finder, const struct table_candidate *table,
                       struct fragment_flow *flow)
{
    uint32_t count = table->bound < MAX_ENTRIES ? table->bound : MAX_ENTRIES;
    size_t first = flow->targets.n;
    uint64_t target;
    for (uint32_t i = 0; i < count && flow->targets.n < MAX_ALL_TARGETS; i++) {
        if (!entry_target(finder, table, i, &target))
            break;
        if (is_target(finder, target))
            vec_push(&flow->targets, target);
        else if (continues_after(finder, table, target))
            vec_push(&flow->targets, INVALID_TARGET);
        else
            break;
    }
    const struct jump_table read = {
        .address = table->address,
        .first = (uint32_t)first,
        .count = (uint32_t)(flow->targets.n - first),
        .entry_size = (uint8_t)table->entry_size,
        .bounded = table->bound != NO_BOUND,
    };
    flow->transfers.at[table->transfer].target = (int32_t)flow->tables.n;
    vec_push(&flow->tables, read);
}

/* Finds the table of a jump; false if it has none. */
static bool find_table(struct table_finder *finder, uint32_t jump, struct table_candidate *table)
{
    struct entry_load load;
    if (!find_entry_load(&finder->decoded, jump, &load))
        return false;
    table->entry_size = load.entry_size;
    if (!locate(finder, &load, table))
        return false;
    table->bound = find_index_bound(&finder->decoded, load.index, load.memory.index);
    if (table->bound == NO_BOUND && load.memory.scale <= 1) /* base and index may be swapped */
        table->bound = find_index_bound(&finder->decoded, load.index, load.memory.base);
    return true;
}

void jump_tables_resolve(struct decoder *decoder, const struct decode_context *context,
                         const struct code_fragment *fragment, struct fragment_flow *flow)
{
    struct table_finder finder = {
        .decoded = {decoder, fragment, flow}, .context = context, .tries_left = MAX_TRIES};
    size_t transfer = 0;
    for (size_t i = 0; i < decoder->indirect_jumps.n; i++) {
        uint32_t jump = decoder->indirect_jumps.at[i];
        while (flow->transfers.at[transfer].offset != decoder->offsets.at[jump])
            transfer++;
        struct table_candidate table = {.transfer = (uint32_t)transfer};
        if (find_table(&finder, jump, &table))
            read_table(&finder, &table, flow);
    }
}

/* ---- finishing ---- */

/* Ends an unbounded table where the next one begins. */
static void cut_table(struct jump_table *table, const struct address_list *tables)
{
    size_t next = partition_point(i, tables->all.n, tables->all.at[i] <= table->address);
    if (table->bounded || next == tables->all.n)
        return;
    uint64_t most = (tables->all.at[next] - table->address) / table->entry_size;
    if (table->count > most)
        table->count = (uint32_t)most;
}

/* Sorts the targets and removes duplicates. */
static void sort_targets(struct jump_table *table, uint64_t *targets)
{
    sort_addresses(targets, table->count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (targets[i] != INVALID_TARGET && (kept == 0 || targets[i] != targets[kept - 1]))
            targets[kept++] = targets[i];
    table->count = kept;
}

static void drop_empty_tables(struct fragment_flow *flow)
{
    for (size_t i = 0; i < flow->transfers.n; i++) {
        struct transfer *transfer = &flow->transfers.at[i];
        if (transfer->kind == TRANSFER_JUMP_INDIRECT && transfer->target != NO_JUMP_TABLE &&
            flow->tables.at[transfer->target].count == 0)
            transfer->target = NO_JUMP_TABLE;
    }
}

struct finish_job {
    struct fragment_flow *flows;
    struct address_list tables; /* addresses of all tables, sorted */
};

static void finish_fragment(void *context, unsigned worker, size_t fragment)
{
    const struct finish_job *job = context;
    struct fragment_flow *flow = &job->flows[fragment];
    (void)worker;
    for (size_t i = 0; i < flow->tables.n; i++) {
        struct jump_table *table = &flow->tables.at[i];
        cut_table(table, &job->tables);
        sort_targets(table, flow->targets.at + table->first);
    }
    if (flow->tables.n)
        drop_empty_tables(flow);
}

void jump_tables_finish(struct fragment_flow *flows, size_t fragment_count, unsigned workers)
{
    struct finish_job job = {.flows = flows};
    for (size_t i = 0; i < fragment_count; i++)
        for (size_t k = 0; k < flows[i].tables.n; k++)
            vec_push(&job.tables.all, flows[i].tables.at[k].address);
    sort_addresses(job.tables.all.at, job.tables.all.n);
    parallel_for_many(fragment_count, workers, finish_fragment, &job);
    vec_free(&job.tables.all);
}
