#include "hpcprof/metrics/instruction-costs.h"

#include "lib/binary-search.h"

#include <stdlib.h>

void instruction_costs_add(struct instruction_costs *costs, uint32_t module, uint64_t address,
                           uint32_t metric, unsigned __int128 amount)
{
    uint64_t key = (uint64_t)module << 32 | metric;
    uint32_t id = idmap_get(&costs->ids, key, address);
    if (id == IDMAP_NONE) {
        id = (uint32_t)costs->all.n;
        idmap_put(&costs->ids, key, address, id);
        const struct instruction_cost new = {module, metric, address, 0};
        vec_push(&costs->all, new);
    }
    costs->all.at[id].amount += amount;
}

void instruction_costs_merge(struct instruction_costs *into, const struct instruction_costs *from)
{
    for (size_t i = 0; i < from->all.n; i++) {
        const struct instruction_cost *a = &from->all.at[i];
        instruction_costs_add(into, a->module, a->address, a->metric, a->amount);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct instruction_cost *x = a, *y = b;
    int order = compare_unsigned(x->module, y->module);
    if (!order)
        order = compare_unsigned(x->address, y->address);
    return order ? order : compare_unsigned(x->metric, y->metric);
}

void instruction_costs_sort(struct instruction_costs *costs)
{
    idmap_free(&costs->ids);
    vec_sort(&costs->all, by_place);
}

void instruction_costs_free(struct instruction_costs *costs)
{
    vec_free(&costs->all);
    idmap_free(&costs->ids);
}
