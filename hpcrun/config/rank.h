/* The rank of a process in a parallel job, as the job's launcher says in its environment: Open MPI,
 * MPICH's and MVAPICH's (PMI), whatever speaks PMIx, Slurm's srun. Part of the library and of the
 * launcher; uses no libc. */
#ifndef HPCRUN_CONFIG_RANK_H
#define HPCRUN_CONFIG_RANK_H

#include <stdint.h>

#define NO_RANK (-1)

/* NO_RANK outside of jobs, and for a job's batch script, which is none of its tasks. */
int64_t rank_in(char *const *environment);

#endif
