/* The folder of the database. It gets its final name only when it is complete, so that an
 * interrupted run leaves nothing that looks like a database. */
#ifndef HPCPROF_DATABASE_DIR_H
#define HPCPROF_DATABASE_DIR_H

#include <stdbool.h>

/* Makes the folder to write to, next to its final place, and returns its path, which stays valid.
 *
 * - `wanted`: final name; NULL: derived from the measurement directory, as
 *   hpctoolkit-CMD-database[-n] in the current directory.
 * - `shared`: other users get the access that the umask allows; otherwise the folder is for the
 * user only, and the process's umask is changed accordingly.
 *
 * Ends the process if `wanted` exists and is not an empty directory of the user's, or if nothing
 * can be written. From now on until database_dir_publish, the folder is removed when the process
 * exits or is stopped by a signal; a signal also stops the programs that were started. Call before
 * there are threads. */
const char *database_dir_create(const char *wanted, const char *measurements, bool shared);

/* Gives the folder its final name, and returns it. */
const char *database_dir_publish(void);

#endif
