#include "hpcstruct/addresses.h"
#include "hpcstruct/decode.h"
#include "hpcstruct/sorted.h"

#include <stdlib.h>

/* Ends a table of unknown size where the next one begins. */
static void cut_table(struct flow_table *table, const struct addresses *tables)
{
    size_t next = count_below(tables->all.at, tables->all.n, sizeof(uint64_t), table->address + 1);
    if (table->bounded || next == tables->all.n)
        return;
    uint64_t most = (tables->all.at[next] - table->address) / table->entry_size;
    if (table->count > most)
        table->count = (uint32_t)most;
}

/* Sorts the targets, and keeps each once. */
static void sort_targets(struct flow_table *table, uint64_t *targets)
{
    addresses_sort(targets, table->count);
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
    struct addresses tables = {0};
    for (size_t i = 0; i < fragment_count; i++)
        for (size_t k = 0; k < flows[i].tables.n; k++)
            vec_push(&tables.all, flows[i].tables.at[k].address);
    addresses_sort(tables.all.at, tables.all.n);
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
