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
    /* EVENT_REALTIME: the parts of `amount` in which the thread wanted no CPU, and in which it had none
     * that it wanted. */
    uint64_t off_cpu, ready;
    /* EVENT_REALTIME, and from outside: CLOCK_MONOTONIC at the end of the time that it stands for, ns */
    uint64_t until;
    /* The kernel's frames that the sample interrupted, innermost first: its pc, then return addresses. None if
     * it was in the program's code, or if the source cannot see them. */
    const uint64_t *kernel;
    unsigned kernel_count;
};

#endif
