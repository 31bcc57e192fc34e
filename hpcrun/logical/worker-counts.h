/* Signal handler: workers_see runs there; lock-free.
 *
 * How many workers each agent's runtime has, and n of the law of metrics, over time: the changes
 * that samples saw, for the measurement file. */
#ifndef HPCRUN_LOGICAL_WORKER_COUNTS_H
#define HPCRUN_LOGICAL_WORKER_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct workers_change {
    uint64_t at; /* CLOCK_MONOTONIC, ns */
    uint32_t workers, n;
};

/* A sample saw these numbers. */
void workers_see(unsigned agent, uint32_t workers, uint32_t n);

/* The i-th change of an agent, in the order in which they were seen; false when there is none yet.
 */
bool workers_change(unsigned agent, uint32_t i, struct workers_change *change);

/* In the child of a fork: nothing was seen yet. */
void workers_forget(void);

#endif
