/* Databases for measurement directories: runs hpcprof if needed. */
#ifndef VIEWER_MEASUREMENT_H
#define VIEWER_MEASUREMENT_H

#include "lib/run-set.h"

/* The database for a path on the command line: the path itself, or for a measurement directory its
 * database in the current directory. If that is missing, runs hpcprof (beside our executable) to
 * create it; if it is older than a measurement, of other measurements, or another user may have
 * made or altered it, creates one with a number behind the name. Reports on stderr what it does.
 * NULL, with the error reported (lib/diag.h), if there is no database. The caller frees. */
char *database_for(const char *path);

/* The same for a run of a set: its database lies next to its measurement directory, as MEASUREMENTS-database, and
 * what is done is not reported. */
char *database_of_set_run(const char *set, const struct set_run *run);

/* The only database or measurement directory in the current directory, for a command line without
 * one; a measurement directory counts together with its database, and those of other users than the
 * owner of the current directory do not count. Ends the process with status 2 and a list if there
 * are none or several. The caller frees. */
char *only_path_here(void);

#endif
