/* /proc/PID/maps of the measured process. It has two lines for each thread, so reading it for each thread takes
 * time that grows with their square. What it says of stacks is kept, and read again for threads that began later, in
 * 2 % of the time at most. */
#ifndef HPCRUN_OUTSIDE_FOREIGN_MAPS_H
#define HPCRUN_OUTSIDE_FOREIGN_MAPS_H

#include "hpcrun/outside/mapping.h"

#include <stdbool.h>

/* Calls `visit` for the mappings of modules' code in a process. False if they can't be read. */
bool foreign_maps_visit(int pid, void (*visit)(const struct mapping *mapping, void *data), void *data);

/* The stack that `sp` is on: the initial thread's, or one with a guard page below it; none if the memory has other
 * uses, as the stacks of goroutines. What is known must be from `since`, CLOCK_MONOTONIC, or later. */
enum foreign_stack { STACK_FOUND, STACK_NONE, STACK_NOT_YET_KNOWN };
enum foreign_stack foreign_stack(uint64_t sp, uint64_t since, uint64_t *low, uint64_t *high);

#endif
