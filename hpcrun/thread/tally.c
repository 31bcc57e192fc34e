#include "hpcrun/thread/tally.h"

enum fate fate_of_slot(unsigned slot)
{
    if (slot < 4)
        return (enum fate)slot;
    if (slot < 8)
        return (enum fate)(FATE_DROPPED_OWN_CODE + slot - 4);
    if (slot < 14)
        return (enum fate)(FATE_PARTIAL_NO_FDE + slot - 8);
    return FATE_KERNEL_UNATTRIBUTED;
}
