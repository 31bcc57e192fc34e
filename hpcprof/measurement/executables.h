/* The executables that the processes of a run ran.
 *
 * Where more than one of them has samples, the paths of each begin at entry points of its own, so
 * that viewers can tell what `make` cost from what its compilers did. */
#ifndef HPCPROF_EXECUTABLES_H
#define HPCPROF_EXECUTABLES_H

#include "hpcprof/measurement/measurements.h"

/* Names the executable of each file, and finds out how many have samples. Once the files are in
 * their order, and before their values are freed. */
void executables_find(struct inputs *inputs);

void executables_free(struct inputs *inputs);

/* What tells the entry points of a file's executable from those of others: 0 where only one has
 * samples, else its index + 1. */
uint32_t executables_entry(const struct inputs *inputs, size_t input);

/* Its name, by what executables_entry has returned; NULL for 0. */
const char *executables_entry_name(const struct inputs *inputs, uint32_t entry);

#endif
