/* Signal handler: used there.
 *
 * The increment of a sample. */
#ifndef HPCRUN_SOURCE_INCREMENT_H
#define HPCRUN_SOURCE_INCREMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The time or count that a signal stands for, in the event's fixed point. */
struct increment {
    bool fired;       /* false: no sample; the source is armed again */
    uint64_t amount;  /* time or count */
    uint64_t off_cpu; /* EVENT_REALTIME: the part of `amount` in which the thread was off the CPU */
};

#endif
