/* The parallel job that a launcher is a process of: its ranks share a measurement directory.
 *
 * A job's name is the same for all of its ranks, also on other machines where its launcher gives
 * the job a name (PMIx, Slurm); else it names the process that started the ranks of a machine. */
#ifndef HPCRUN_LAUNCH_JOB_H
#define HPCRUN_LAUNCH_JOB_H

#include <stdint.h>

struct job {
    char *name; /* owned; NULL where there is no job */
    int64_t rank;
};

struct job job_find(char *const *environment);
void job_free(struct job *job);

#endif
