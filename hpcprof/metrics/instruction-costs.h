/* Costs of single instructions: amounts by module, address and metric, summed over all contexts and
 * threads. Each worker thread fills a table of its own; they are merged when all samples are
 * attributed.
 *
 * An address is the ELF address of the interrupted instruction in its module. Samples outside of
 * all modules are left out. */
#ifndef HPCPROF_INSTRUCTION_COSTS_H
#define HPCPROF_INSTRUCTION_COSTS_H

#include "lib/alloc.h"
#include "lib/hash-tables.h"

struct instruction_cost {
    uint32_t module; /* index in measurements.modules */
    uint32_t metric; /* index in the metric table */
    uint64_t address;
    unsigned __int128 amount; /* in the fixed point of the metric's event */
};

struct instruction_costs {
    VEC(struct instruction_cost) all;
    struct idmap ids; /* (module and metric, address) -> index in all */
};

/* Adds to the cost of an instruction. */
void instruction_costs_add(struct instruction_costs *costs, uint32_t module, uint64_t address,
                           uint32_t metric, unsigned __int128 amount);

/* Adds all of `from`. */
void instruction_costs_merge(struct instruction_costs *into, const struct instruction_costs *from);

/* Sorts by module, address and metric. Nothing can be added afterwards. */
void instruction_costs_sort(struct instruction_costs *costs);

void instruction_costs_free(struct instruction_costs *costs);

#endif
