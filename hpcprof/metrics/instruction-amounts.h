/* What was measured at single instructions: amounts by (module, address, metric), summed over all
 * contexts and threads. One table per worker thread, merged when all samples are attributed.
 *
 * An address is an ELF address in the module, that of the interrupted instruction. Samples outside
 * of all modules are not in the table. */
#ifndef HPCPROF_INSTRUCTION_AMOUNTS_H
#define HPCPROF_INSTRUCTION_AMOUNTS_H

#include "lib/hash-tables.h"
#include "lib/alloc.h"

struct instruction_amount {
    uint32_t module; /* index in the run's modules */
    uint32_t metric; /* index in the run's metrics */
    uint64_t address;
    unsigned __int128 amount; /* in the fixed point of the metric's event */
};

struct instruction_amounts {
    VEC(struct instruction_amount) all;
    struct idmap ids; /* (module and metric, address) -> index in all */
};

/* Adds to the amount of an instruction. */
void instruction_amounts_add(struct instruction_amounts *amounts, uint32_t module, uint64_t address,
                             uint32_t metric, unsigned __int128 amount);

/* Adds all of `from`. */
void instruction_amounts_merge(struct instruction_amounts *into,
                               const struct instruction_amounts *from);

/* Sorts by module, address and metric. Nothing can be added afterwards. */
void instruction_amounts_sort(struct instruction_amounts *amounts);

void instruction_amounts_free(struct instruction_amounts *amounts);

#endif
