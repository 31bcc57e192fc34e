/* The limit of memory that hpcrun-outside may take (hpcrun --memory): rings of perf, queues, and what the reader and
 * the workers have for themselves. When it is reached, samples are not recorded, so that no worker needs more, until
 * processes have ended. */
#ifndef HPCRUN_OUTSIDE_MEMORY_LIMIT_H
#define HPCRUN_OUTSIDE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Once. */
void memory_limit_set(uint64_t bytes);

/* Bytes that the rings may take. */
uint64_t memory_limit_of_rings(void);

/* Whether it is time to measure again. Then the reader's memory is measured, and the caller adds each worker. */
bool memory_limit_is_due(void);
void memory_limit_measure(uint64_t ring_bytes);
void memory_limit_add(pid_t worker);

/* A worker that begins needs this, until it is measured. */
void memory_limit_begin(void);

bool memory_limit_is_reached(void);

#endif
