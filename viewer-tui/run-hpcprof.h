/* Where the user gives a measurement directory: making a database of it first. */
#ifndef VIEWER_MEASUREMENT_H
#define VIEWER_MEASUREMENT_H

/* The folder of the database for what the user named: `path` itself, or for a measurement
 * directory the database of it in the current directory, which hpcprof (beside our own executable)
 * makes, unless it is there and newer than all measurements. Says what it does on stderr. NULL,
 * with the complaint made (lib/diag.h), when there is no database to be had. The caller frees. */
char *database_for(const char *path);

/* The only database or measurement directory in the current directory, for a command line without
 * one; a measurement directory counts together with its database. Ends the process with status 2 and
 * a list if there are none or several. The caller frees. */
char *only_path_here(void);

#endif
