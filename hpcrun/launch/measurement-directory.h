/* The measurement directory. */
#ifndef HPCRUN_LAUNCH_MEASUREMENT_DIRECTORY_H
#define HPCRUN_LAUNCH_MEASUREMENT_DIRECTORY_H

#include "hpcrun/launch/job.h"

#include <stdbool.h>

struct measurement_directory {
    char *path; /* absolute, without links; owned */
    unsigned owner;
};

/* Makes the directory, which then belongs to the user alone; with `shared` to others, too, as far
 * as the umask lets them. `wanted` may exist when it is an empty directory of the user's; NULL asks
 * for hpctoolkit-COMMAND-measurements[-N], the first that does not exist, without characters of
 * COMMAND that a terminal obeys. Ends the process with a message when that is not possible.
 *
 * The ranks of a job share a directory: whoever comes first makes it, and it exists for the others
 * as if it did not, once for each of them. Two links in it that lead nowhere say whose it is:
 * `.job` to the job's name, `.rank-N` for each rank. */
struct measurement_directory directory_make(const char *wanted, const char *command, bool shared,
                                            const struct job *job);

#endif
