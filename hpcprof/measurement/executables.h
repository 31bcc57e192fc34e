/* The executables that the processes of a run ran, by the names under which they were called: one
 * file may be several programs (redis-server and redis-check-rdb, the commands of busybox).
 *
 * If several of them have samples, the call paths of each begin at entry points of its own ("main
 * thread of make"), so that a viewer can separate the time of `make` from that of its compilers. */
#ifndef HPCPROF_EXECUTABLES_H
#define HPCPROF_EXECUTABLES_H

#include "hpcprof/measurement/measurements.h"

struct executables {
    VEC(char *) names; /* distinct: "make"; "/opt/bin/ld" if another executable is also called ld */
    uint32_t *of_file; /* by index in measurements.files: index in names */
    size_t n_sampled;  /* executables that have samples */
};

/* Path of the process's executable, with the name under which it was called: the base name of its
 * first argument, without the dash of a login shell. Of an interpreter, the script, which is the first
 * argument that is the file of code in an agent's name tables, or the name of the module. Empty if neither is known.
 * Owned by the caller. */
char *executable_as_called(const struct measurement *m);

/* Needs the values of the measurements. */
void executables_find(struct executables *executables, const struct measurements *measurements);

void executables_free(struct executables *executables);

/* The number that distinguishes the entry points of a file's executable: 0 if only one executable
 * has samples, else its index + 1. */
uint32_t executables_entry(const struct executables *executables, size_t file);

/* The name of the executable with that number; NULL for 0. */
const char *executables_entry_name(const struct executables *executables, uint32_t entry);

#endif
