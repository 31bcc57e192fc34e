/* The measurement directory. */
#ifndef HPCRUN_LAUNCH_DIRECTORY_H
#define HPCRUN_LAUNCH_DIRECTORY_H

#include "hpcrun/launch/job.h"

/* Makes the directory and returns its absolute path, owned by the caller. `wanted` may exist when
 * it is an empty directory; NULL asks for hpctoolkit-COMMAND-measurements[-N], the first that does
 * not exist. Ends the process with a message when that is not possible.
 *
 * The ranks of a job share a directory: whoever comes first makes it, and it exists for the others
 * as if it did not, once for each of them. Two links in it that lead nowhere say whose it is:
 * `.job` to the job's name, `.rank-N` for each rank. */
char *directory_make(const char *wanted, const char *command, const struct job *job);

#endif
