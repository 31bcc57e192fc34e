/* The measurement directory. */
#ifndef HPCRUN_LAUNCH_MEASUREMENT_DIRECTORY_H
#define HPCRUN_LAUNCH_MEASUREMENT_DIRECTORY_H

#include <stdbool.h>

struct measurement_directory {
    char *path;     /* absolute, without links; owned */
    unsigned owner; /* user id */
    bool is_shared_by_ranks;
};

/* Makes the directory, readable by the user alone; with `shared` by others, too, as far as the
 * umask allows. Ends the process with a message if that is not possible.
 *
 * The directory is this process's alone: several hpcrun that want the same one at once get it one
 * time. The others end with a message, or take the next default name.
 *
 * `wanted` may exist if it is an empty directory of the user's. If it is NULL, the name is the
 * first of hpctoolkit-COMMAND-measurements[-N] that does not exist; characters of COMMAND that a
 * terminal would interpret are replaced.
 *
 * The ranks of a parallel job (as Open MPI, MPICH, PMIx and Slurm start them) share a directory.
 * The first rank makes it, and every other rank may use it once. Two kinds of symbolic links in it,
 * whose targets do not exist, record the owner: `.job` holds the job's name, or that of the process
 * outside of jobs; `.rank-N` the job's name for each rank that has used it. */
struct measurement_directory directory_make(const char *wanted, const char *command, bool shared);

/* Removes the directory after all if nothing was written to it. */
void directory_give_back(const struct measurement_directory *directory);

#endif
