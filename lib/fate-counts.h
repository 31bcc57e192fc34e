/* Signal handler: everything here may be used there.
 *
 * Counts of samples by fate. */
#ifndef LIB_FATE_COUNTS_H
#define LIB_FATE_COUNTS_H

#include "lib/measurement-format.h"

#include <stdint.h>

/* Samples of one fate: their number, and the time (fixed point) or count that they stand for. */
struct fate_count {
    uint64_t count, amount;
};

#define FATE_SLOTS 16

/* The index of a fate in an array of counts. */
static inline unsigned fate_slot(enum fate fate)
{
    if (fate < FATE_DROPPED_OWN_CODE)
        return fate;
    if (fate < FATE_PARTIAL_NO_FDE)
        return 4 + (fate - FATE_DROPPED_OWN_CODE);
    if (fate < FATE_KERNEL_UNATTRIBUTED)
        return 8 + (fate - FATE_PARTIAL_NO_FDE);
    return 15;
}

/* The fate of an index. */
static inline enum fate fate_of_slot(unsigned slot)
{
    if (slot < 4)
        return (enum fate)slot;
    if (slot < 8)
        return (enum fate)(FATE_DROPPED_OWN_CODE + slot - 4);
    if (slot < 15)
        return (enum fate)(FATE_PARTIAL_NO_FDE + slot - 8);
    return FATE_KERNEL_UNATTRIBUTED;
}

#endif
