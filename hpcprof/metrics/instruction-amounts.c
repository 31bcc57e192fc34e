#include "hpcprof/metrics/instruction-amounts.h"

#include <stdlib.h>

void instruction_amounts_add(struct instruction_amounts *amounts, uint32_t module, uint64_t address,
                             uint32_t metric, unsigned __int128 amount)
{
    uint64_t key = (uint64_t)module << 32 | metric;
    uint32_t id = idmap_get(&amounts->ids, key, address);
    if (id == IDMAP_NONE) {
        id = (uint32_t)amounts->all.n;
        idmap_put(&amounts->ids, key, address, id);
        const struct instruction_amount new = {module, metric, address, 0};
        vec_push(&amounts->all, new);
    }
    amounts->all.at[id].amount += amount;
}

void instruction_amounts_merge(struct instruction_amounts *into,
                               const struct instruction_amounts *from)
{
    for (size_t i = 0; i < from->all.n; i++) {
        const struct instruction_amount *a = &from->all.at[i];
        instruction_amounts_add(into, a->module, a->address, a->metric, a->amount);
    }
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
    const struct instruction_amount *x = a, *y = b;
    int order = compare(x->module, y->module);
    if (!order)
        order = compare(x->address, y->address);
    return order ? order : compare(x->metric, y->metric);
}

void instruction_amounts_sort(struct instruction_amounts *amounts)
{
    idmap_free(&amounts->ids);
    if (amounts->all.n)
        qsort(amounts->all.at, amounts->all.n, sizeof *amounts->all.at, by_place);
}

void instruction_amounts_free(struct instruction_amounts *amounts)
{
    vec_free(&amounts->all);
    idmap_free(&amounts->ids);
}
